# The names of registers.py as C constants, so that a register dispatch becomes a switch.
# tests/chips/test_registers.py compares the two.
from libc.stdint cimport int64_t

cdef extern from *:
    """
    #define NEVER INT64_MAX
    """
    const int64_t NEVER

cdef enum:
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

    IFR_CA2 = 0x01
    IFR_CA1 = 0x02
    IFR_SR = 0x04
    IFR_CB2 = 0x08
    IFR_CB1 = 0x10
    IFR_T2 = 0x20
    IFR_T1 = 0x40
    IFR_ANY = 0x80
    IFR_FLAGS = 0x7F
    IER_SET = 0x80

    ACR_LATCH_A = 0x01
    ACR_LATCH_B = 0x02
    ACR_SR_MODE = 0x1C
    ACR_T2_PULSES = 0x20
    ACR_T1_FREE_RUN = 0x40
    ACR_T1_PB7 = 0x80
    SR_DISABLED = 0x00
    SR_IN_T2 = 0x04
    SR_IN_PHI2 = 0x08
    SR_IN_CB1 = 0x0C
    SR_OUT_FREE = 0x10
    SR_OUT_T2 = 0x14
    SR_OUT_PHI2 = 0x18
    SR_OUT_CB1 = 0x1C

    PORT_B_CONTROL = 4
    PORT_B_EDGES = 3
    C1_EDGE = 0x02
    C2_EDGE = 0x01
    C1_RISING = 0x01
    C2_MODE = 0x0E
    C2_RISING = 0x04
    C2_INDEPENDENT_FALLING = 0x02
    C2_INDEPENDENT_RISING = 0x06
    C2_HANDSHAKE = 0x08
    C2_PULSE = 0x0A

    PB6 = 0x40
    PB7 = 0x80

    WATCH_IRQ = 1
    WATCH_PB7 = 2
    WATCH_CA2 = 4
    WATCH_CB1 = 8
    WATCH_CB2 = 16

    READ_T1CL = 0x01
    WRITE_T1CH = 0x02
    WRITE_T1LH = 0x04
    READ_T2CL = 0x08
    WRITE_T2CH = 0x10
    WRITE_IFR = 0x20
