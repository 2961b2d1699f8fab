| Runs pieces of code that ask the VIA1 of a 68040 Macintosh, and says over the serial port (channel A, the
| modem port, 9600 8N1) what they found.  guestclock/conformance/capture/mac.py appends them:
|
| table:
|	word	id, said with the results
|	word	passes: everything is done, and said, so often
|	word	pieces
|	word	bytes that a pass finds
|	long	where they go, from `table`
|	then for each piece a long: where it is, from `table`
|
| A piece is called with a2 and a4 at VIA1 and VIA2 and a1 where it puts what it finds.  It is called twice,
| the first time for the instruction cache alone: the second meets no slow memory between its accesses.
| Nothing depends on where the program lies.  The MMU is off, interrupts are masked.

	.equ	via1, 0x50f00000
	.equ	via2, 0x50f02000
	.equ	via_ddra, 0x600
	.equ	via_acr, 0x1600
	.equ	via_ier, 0x1c00
	.equ	scc_a_control, 0x50f0c022
	.equ	scc_a_data, 0x50f0c026
	.equ	io_uncached, 0x500fc040		| 50xxxxxx: every access in its turn
	.equ	caches_on, 0x80008000
	.equ	line_bytes, 32

	.text
	.globl	_start
_start:
	move.w	#0x2700, %sr
	lea	stack(%pc), %sp
	cpusha	%bc
	move.l	#io_uncached, %d0
	movec	%d0, %dtt0
	move.l	#caches_on, %d0
	movec	%d0, %cacr
	lea	via1, %a2
	lea	via2, %a4
	lea	table(%pc), %a5
	move.b	#0x7f, via_ier(%a2)
	move.b	#0x7f, via_ier(%a4)
	andi.b	#0xdf, via_acr(%a4)	| VIA2's T2, the ruler, counts φ2 and no pulses
	jbsr	serial_start
	clr.l	%d7			| the pass
pass:
	movea.l	8(%a5), %a1
	adda.l	%a5, %a1
	lea	12(%a5), %a6
	move.w	4(%a5), %d6
piece:
	movea.l	(%a6)+, %a3
	adda.l	%a5, %a3
	move.l	%a1, -(%sp)
	jsr	(%a3)
	movea.l	(%sp)+, %a1
	jsr	(%a3)
	subq.w	#1, %d6
	jne	piece
	jbsr	report
	addq.w	#1, %d7
	cmp.w	2(%a5), %d7
	jne	pass
	lea	bye(%pc), %a0
	jbsr	say
1:	stop	#0x2700
	jra	1b

| Lines "@gc found id=ID pass=P at=OFFSET data=DIGITS sum=SUM", each at most `line_bytes` long; the sum is that of
| the id's bytes, the pass's, the offset's and the data's, so that no line can stand for another.
report:
	movea.l	8(%a5), %a1
	adda.l	%a5, %a1
	clr.l	%d6			| the offset
line:
	lea	text_id(%pc), %a0
	jbsr	say
	move.w	(%a5), %d2
	jbsr	say_word
	lea	text_pass(%pc), %a0
	jbsr	say
	move.w	%d7, %d2
	jbsr	say_word
	lea	text_at(%pc), %a0
	jbsr	say
	move.w	%d6, %d2
	jbsr	say_word
	lea	text_data(%pc), %a0
	jbsr	say
	clr.b	%d5			| the sum
	move.w	(%a5), %d2
	jbsr	add_word
	move.w	%d7, %d2
	jbsr	add_word
	move.w	%d6, %d2
	jbsr	add_word
	moveq	#line_bytes, %d4
1:	cmp.w	6(%a5), %d6
	jcc	2f
	move.b	(%a1)+, %d2
	add.b	%d2, %d5
	jbsr	say_byte
	addq.w	#1, %d6
	subq.w	#1, %d4
	jne	1b
2:	lea	text_sum(%pc), %a0
	jbsr	say
	move.b	%d5, %d2
	jbsr	say_byte
	lea	text_end(%pc), %a0
	jbsr	say
	cmp.w	6(%a5), %d6
	jcs	line
	rts

add_word:
	add.b	%d2, %d5
	lsr.w	#8, %d2
	add.b	%d2, %d5
	rts

say_word:				| the low word of d2
	move.w	%d2, -(%sp)
	lsr.w	#8, %d2
	jbsr	say_byte
	move.w	(%sp)+, %d2
say_byte:				| the low byte of d2
	move.b	%d2, %d0
	lsr.b	#4, %d0
	jbsr	say_digit
	move.b	%d2, %d0
say_digit:
	and.w	#0xf, %d0
	move.b	(digits,%pc,%d0.w), %d0
	jra	send

say:					| the text at a0, to its zero
1:	move.b	(%a0)+, %d0
	jeq	2f
	jbsr	send
	jra	1b
2:	rts

| The SCC wants some cycles of its clock between accesses: reads of the VIA take longer than that.
send:
	tst.b	via_ddra(%a2)
	btst	#2, scc_a_control	| RR0: the transmit buffer is empty
	jeq	send
	tst.b	via_ddra(%a2)
	move.b	%d0, scc_a_data
	rts

serial_start:
	tst.b	scc_a_control		| the next write chooses a register
	lea	scc_registers(%pc), %a0
	moveq	#(scc_registers_end - scc_registers) - 1, %d1
1:	tst.b	via_ddra(%a2)
	tst.b	via_ddra(%a2)
	move.b	(%a0)+, scc_a_control
	dbra	%d1, 1b
	rts

| Register, value: 16 clocks a bit, one stop bit, no parity; 8 bits, RTS and DTR; both clocks from the rate
| generator, which divides RTxC, 3.6864 MHz, by 2 (10 + 2): 153,600 Hz, 16 times 9600; then all is switched on.
scc_registers:
	.byte	4, 0x44, 3, 0xc0, 5, 0xe2, 11, 0x50, 12, 10, 13, 0, 14, 0, 14, 1, 3, 0xc1, 5, 0xea
scc_registers_end:

digits:
	.ascii	"0123456789abcdef"
text_id:
	.asciz	"@gc found id="
text_pass:
	.asciz	" pass="
text_at:
	.asciz	" at="
text_data:
	.asciz	" data="
text_sum:
	.asciz	" sum="
text_end:
	.asciz	"\r\n"
bye:
	.asciz	"@gc bye\r\n"

	.balign	4
	.space	256
stack:
table:

	.section .note.GNU-stack, "", @progbits
