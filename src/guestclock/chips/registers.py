"""Names of the 6522's registers and of the bits in them, as the data sheet has them.

The compiled chip holds the same names as C constants (``mos6522.pxd``); a test compares the two.
Source: MOS Technology MCS6522 data sheet (1977), tables of register addressing, ACR, PCR, IFR, IER.
"""

ORB = 0x0
ORA = 0x1
DDRB = 0x2
DDRA = 0x3
T1CL = 0x4
T1CH = 0x5
T1LL = 0x6
T1LH = 0x7
T2CL = 0x8
T2CH = 0x9
SR = 0xA
ACR = 0xB
PCR = 0xC
IFR = 0xD
IER = 0xE
ORA_NO_HANDSHAKE = 0xF

REGISTER_NAMES = (
    "ORB", "ORA", "DDRB", "DDRA", "T1CL", "T1CH", "T1LL", "T1LH",
    "T2CL", "T2CH", "SR", "ACR", "PCR", "IFR", "IER", "ORA_NO_HANDSHAKE",
)  # fmt: skip

# IFR and IER, one flag a bit.
IFR_CA2 = 0x01
IFR_CA1 = 0x02
IFR_SR = 0x04
IFR_CB2 = 0x08
IFR_CB1 = 0x10
IFR_T2 = 0x20
IFR_T1 = 0x40
IFR_ANY = 0x80
IFR_FLAGS = 0x7F

# IER: bit 7 of a written value says whether its ones enable or disable.
IER_SET = 0x80

# Auxiliary control register.
ACR_LATCH_A = 0x01
ACR_LATCH_B = 0x02
ACR_SR_MODE = 0x1C
ACR_T2_PULSES = 0x20
ACR_T1_FREE_RUN = 0x40
ACR_T1_PB7 = 0x80

# What ACR_SR_MODE says: in or out, and whose clock moves the bits.
SR_DISABLED = 0x00
SR_IN_T2 = 0x04
SR_IN_PHI2 = 0x08
SR_IN_CB1 = 0x0C
SR_OUT_FREE = 0x10
SR_OUT_T2 = 0x14
SR_OUT_PHI2 = 0x18
SR_OUT_CB1 = 0x1C

# Peripheral control register: port A's half below, port B's four bits up.  A port's C1 and C2 edges
# set two flags of IFR, port A's below, port B's three bits up.
PORT_B_CONTROL = 4
PORT_B_EDGES = 3
C1_EDGE = 0x02
C2_EDGE = 0x01

# A half of PCR.  C2 is an input up to C2_HANDSHAKE, an output from it on; PULSE is followed by "low" and
# "high".  Two of the input modes are "independent": an access to the port leaves the flag alone.
C1_RISING = 0x01
C2_MODE = 0x0E
C2_RISING = 0x04
C2_INDEPENDENT_FALLING = 0x02
C2_INDEPENDENT_RISING = 0x06
C2_HANDSHAKE = 0x08
C2_PULSE = 0x0A

PB6 = 0x40
PB7 = 0x80

# What `next_event` is asked to watch, one output a bit.
WATCH_IRQ = 1
WATCH_PB7 = 2
WATCH_CA2 = 4
WATCH_CB1 = 8
WATCH_CB2 = 16

# The half-cycle of an event that does not come.
NEVER = 2**63 - 1

# Accesses that clear a timer's flag, one a bit.  The argument `timeout_beats` names those which
# fail to do so in the very cycle of the timeout.
READ_T1CL = 0x01
WRITE_T1CH = 0x02
WRITE_T1LH = 0x04
READ_T2CL = 0x08
WRITE_T2CH = 0x10
WRITE_IFR = 0x20
