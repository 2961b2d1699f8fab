/* What the adapter needs of a 6522: put your emulator's own calls here. */
void via_power_up(void);
void via_advance(long cycle); /* the chip stands at that φ2 cycle, nothing done in it yet */
int via_read(int rs);         /* in the cycle advanced to */
void via_write(int rs, int value);
