| Performs a list of VIA accesses.  What makes it of use is that the number of instructions up to each access
| is known beforehand (guestclock/qemu/steps.py has the same numbers): with one instruction one tick of
| virtual time, so is the instant of each.
|
| At `program`, loaded by whoever starts the machine:
|	long	where results of reads and probes go, a byte each
|	long	where interruptions are logged: d0 and PC, a long each
|	long	base of the VIA
|	then steps of 12 bytes: long wait loops, long routine, word register offset, word value
| At the end `program` holds the end of the log and, in its second long, "done".

	.equ	program, 0x100000

	.text
	.globl	_start
_start:
	lea	vectors, %a5
	movec	%a5, %vbr
	lea	stack, %sp
	lea	program, %a0
	movea.l	(%a0)+, %a1
	movea.l	(%a0)+, %a4
	movea.l	(%a0)+, %a2		| the 7th and last before the steps: PREFIX_INSTRUCTIONS
step:
	move.l	(%a0)+, %d0
	movea.l	(%a0)+, %a3
	move.w	(%a0)+, %d2
	move.w	(%a0)+, %d1
1:	subq.l	#1, %d0
	jne	1b
	jmp	(%a3)

	.balign	64			| routines lie 64 bytes apart: ROUTINE_BYTES
read:
	move.b	(%a2,%d2.w), %d3
	move.b	%d3, (%a1)+
	jra	step

	.balign	64
write:
	move.b	%d1, (%a2,%d2.w)
	jra	step

	.balign	64
set_status:
	move.w	%d1, %sr
	jra	step

	.balign	64
finish:
	move.w	#0x2700, %sr
	move.l	%a4, program
	move.l	#0x646f6e65, program+4
1:	stop	#0x2700
	jra	1b

	.balign	64
probe:					| stores a byte that has changed if an interrupt was waiting
	move.w	%d1, %sr
	move.w	#0x2700, %sr
	move.l	%a4, %d3
	move.b	%d3, (%a1)+
	jra	step

	.balign	64
interrupt:				| HANDLER_INSTRUCTIONS; leaves interrupts masked until a step lets them in
	move.l	%d0, (%a4)+
	move.l	2(%sp), (%a4)+
	ori.w	#0x700, (%sp)		| the flags stay: the loop may be between its two instructions
	rte

	.balign	4
vectors:
	.rept	256
	.long	interrupt
	.endr
	.space	256
stack:

	.section .note.GNU-stack, "", @progbits
