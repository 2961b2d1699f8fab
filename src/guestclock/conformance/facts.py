"""The facts that vectors rest on, as ``docs/6522.md`` numbers and words them (a test compares the two)."""

from typing import NamedTuple


class Fact(NamedTuple):
    """What is known, and on what it was recorded: V, B, M, or D for data sheets only."""

    text: str
    evidence: str


FACTS = {
    1: Fact(
        "a read at k ≥ 1 gives N − (k − 1), on both timers",
        "V B M",
    ),
    2: Fact(
        "T1 counts N…0, FFFF, and N again: the period is N + 2, in one-shot mode too. Only the flag "
        "is one-shot",
        "V B M",
    ),
    3: Fact(
        "IFR6 and IFR5 read 1 first at k = N + 2, the cycle that shows FFFF",
        "V M",
    ),
    4: Fact(
        "the IRQ pin falls half a cycle earlier, in the middle of k = N + 1, and every N + 2 cycles "
        "in free run",
        "V M",
    ),
    5: Fact(
        "one-shot mode sets IFR6 once per write of T1CH",
        "B M",
    ),
    6: Fact(
        "IFR6 is cleared by reading T1CL and by writing T1CH or T1LH, in both modes; not by writing "
        "T1CL or T1LL, nor by reading T1CH. IFR5: by reading T2CL and by writing T2CH",
        "V B M",
    ),
    7: Fact(
        "reading T1CL at k = N + 2 does not clear IFR6, at N + 3 it does. *Model*: writes of T1CH and"
        " T1LH, reads of T2CL and writes of T2CH fail in that cycle too (`timeout_beats`)",
        "B",
    ),
    8: Fact(
        "contested: writing the flag's bit to IFR at k = N + 2. One Model B keeps the flag; another "
        "recording, and a Mockingboard on T2, clear it. Here the write wins (`timeout_beats` has the "
        "other)",
        "B against B, M",
    ),
    9: Fact(
        "ACR6 cleared at k = N + 2 disarms T1. ACR6 set at k = N + 2 is too late to keep it armed, at"
        " N + 1 it is not",
        "B",
    ),
    10: Fact(
        "a write of ACR never restarts T1. One-shot mode entered after a reload still gives one flag",
        "B M",
    ),
    11: Fact(
        "a latch written (T1LL or T1CL) at k = N + 2 is what that reload takes; at N + 3 it is not",
        "B",
    ),
    12: Fact(
        "T2CL writes only the latch. After 0 come FFFF, FFFE, …, never a reload. One flag per write "
        "of T2CH, none before the first",
        "B M",
    ),
    13: Fact(
        "ACR5 set: one more decrement, then T2 stands still. ACR5 cleared in cycle c: the first "
        "decrement shows in c + 2",
        "V B",
    ),
    14: Fact(
        "T2CH written in pulse mode reads back exactly. Falling edges on PB6 count, the chip's own "
        "(ORB, DDRB) as well. *Model*: a fall in cycle c shows in c + 1",
        "B",
    ),
    15: Fact(
        "PB7 is held 1 while ACR7 is 0. With ACR7 set, writing T1CH drives 0 and each armed timeout "
        "toggles; IRB7 shows it whatever DDRB7 says. T1CH written before ACR7 is set: 1, then 0 after"
        " the timeout",
        "V",
    ),
    16: Fact(
        "with the shift register in modes 1, 4, 5 T2's low byte reloads from its latch after xxFF; "
        "the flag comes once, after (lo + 2)(hi + 1) cycles",
        "V",
    ),
    17: Fact(
        "in modes 2 and 6 an access to SR in cycle r starts a byte: bits go out, rotating, in r + 2, "
        "4, …, 16 and come in in r + 3, 5, …, 17; an access in mid-transfer does not start it anew. "
        "IFR2 reads 1 first in r + 17; clocked by T2, with the 16th half-bit",
        "V",
    ),
    18: Fact(
        "clocked by T2, CB1's edge and the shift show one cycle after the reload of T2's low byte: a "
        "bit takes 2 (lo + 2) cycles. Mode 4 rotates for ever without a flag",
        "V D",
    ),
    19: Fact(
        "mode 0 holds IFR2 at 0, but each rise of CB1 shifts CB2 in. In modes 3 and 7 CB1 clocks: "
        "IFR2 after every eight pulses, shifting goes on, an access to SR counts anew. *Model*: an "
        "edge in cycle c shows in c + 1",
        "D",
    ),
    20: Fact(
        "reset clears ORA, ORB, DDRA, DDRB, ACR, PCR, IFR, IER and disarms both timers; counters, "
        "latches and the shift register survive. At power-up the latches are not zero",
        "M",
    ),
    21: Fact(
        "IER reads with bit 7 set. IFR7 is 1 when any flag is set and enabled",
        "M D",
    ),
    22: Fact(
        "a 1 written to IFR clears its flag; bit 7 clears nothing",
        "D",
    ),
    23: Fact(
        "in handshake mode C2 is low after an access to the data register until C1's active edge, in "
        "pulse mode for the one cycle after it. Port A: reads and writes of ORA, not of register F; "
        "port B: writes of ORB",
        "D",
    ),
    24: Fact(
        "with latching on, reads show the pins as they were at C1's edge while C1's flag is set, else"
        " the pins. Outputs of port B read ORB all the same",
        "D",
    ),
    25: Fact(
        "an access to ORA or ORB clears its port's C1 flag, and the C2 flag unless C2 is an "
        "independent input",
        "V D",
    ),
    26: Fact(
        "IRA shows the pins. IRB shows ORB where the pin is an output, the pin where it is an input",
        "D",
    ),
    27: Fact(
        "SR written or read in mode 0 starts nothing: in the mode entered next the register rests until "
        "SR is accessed again",
        "V",
    ),
    28: Fact(
        "the clock and the data that the shift register itself puts on CB1 and CB2 set neither flag",
        "D",
    ),
}
