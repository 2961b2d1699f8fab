| Entry, exception vectors and the way to user mode.  MC68040, MMU off, boot-info records at _end.

	.section .text.start, "ax"
	.globl	_start
_start:
	move.w	#0x2700, %sr
	lea	supervisor_stack_end, %sp
	lea	__bss_start, %a0
	lea	_end, %a1
1:	cmpa.l	%a1, %a0
	jcc	2f
	clr.l	(%a0)+			| .bss is a whole number of long words
	jra	1b
2:	lea	vectors, %a0
	movec	%a0, %vbr
	jsr	kernel_start
	lea	user_stack_end, %a0
	move.l	%a0, %usp
	clr.w	-(%sp)			| format 0
	pea	user_start
	clr.w	-(%sp)			| user mode, all interrupts let in
	rte

	.text
interrupt:
	movem.l	%d0-%d1/%a0-%a1, -(%sp)
	clr.l	%d0
	move.w	16(%sp), %d0		| the status register before
	move.l	%d0, -(%sp)
	jsr	handle_interrupt
	addq.l	#4, %sp
	movem.l	(%sp)+, %d0-%d1/%a0-%a1
	rte

trap:					| number in d0, arguments in d1-d3, result in d0
	movem.l	%d1/%a0-%a1, -(%sp)
	movem.l	%d0-%d3, -(%sp)
	jsr	system_call
	lea	16(%sp), %sp
	movem.l	(%sp)+, %d1/%a0-%a1
	rte

fault:					| frame: SR, PC, format and vector offset
	move.w	#0x2700, %sr
	clr.l	%d0
	move.w	6(%sp), %d0
	move.l	2(%sp), -(%sp)
	move.l	%d0, -(%sp)
	jsr	handle_fault

| Sleep until an interrupt has been handled: STOP lets interrupts in and waits in one step,
| so none slips in between the caller's look (interrupts masked) and the wait.
	.globl	wait_for_interrupt
wait_for_interrupt:
	stop	#0x2000
	rts

	.section .rodata
	.balign	4
vectors:
	.rept	25			| 0-24: reset, faults, spurious interrupt
	.long	fault
	.endr
	.rept	6			| 25-30: autovectors 1-6
	.long	interrupt
	.endr
	.long	fault			| 31: level 7
	.long	trap			| 32: TRAP #0
	.rept	223
	.long	fault
	.endr

	.bss
	.balign	4
	.space	4096
supervisor_stack_end:
	.space	8192
user_stack_end:

	.section .note.GNU-stack, "", @progbits
