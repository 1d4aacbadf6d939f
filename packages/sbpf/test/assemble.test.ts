import { describe, expect, it } from 'vitest'
import { AssemblyError, assemble, decodeInstructions, disassemble, fromElf, opcodes } from '../src/index.ts'
import { encodings } from './encodings.ts'

const TEXT = 120

function textOf(source: string): string {
  return Buffer.from(assemble(source).elf.subarray(TEXT)).toString('hex')
}

function programOf(line: string): string {
  return `entrypoint:\n  ${line}\nnext:\n  exit\n`
}

describe('the assembler', () => {
  it.each(encodings)('encodes %s', (line, hex) => {
    const bytes = hex.replaceAll(' ', '')

    const text = textOf(programOf(line))

    expect(text).toBe(`${bytes}9500000000000000`)
  })

  it('has an encoding in the table for every instruction', () => {
    const used = new Set(encodings.map(([, hex]) => Number.parseInt(hex.slice(0, 2), 16)))

    expect(opcodes.filter(({ code }) => !used.has(code))).toEqual([])
  })

  it('writes the file that the loader of version 3 asks for: two headers, then the code at 1 << 32', () => {
    const elf = Buffer.from(assemble('  exit\nentrypoint:\n  exit\n').elf)

    expect(elf.subarray(0, 8).toString('hex')).toBe('7f454c4602010100')
    expect(elf.readUInt16LE(18)).toBe(247)
    expect(elf.readBigUInt64LE(24)).toBe((1n << 32n) + 8n)
    expect(elf.readUInt32LE(48)).toBe(3)
    expect(elf.readUInt32LE(68)).toBe(1)
    expect(elf.readBigUInt64LE(72)).toBe(120n)
    expect(elf.readBigUInt64LE(80)).toBe(1n << 32n)
    expect(elf.length).toBe(120 + 16)
  })

  it('replaces names by their values, in expressions and in memory operands', () => {
    const named =
      '.equ A, 2 * (3 + 1)\n.equ B, A - 0x10 / 4\nentrypoint:\nmov64 r1, A + B\nldxb r1, [r1 + A - B + 1]'

    expect(textOf(named)).toBe(textOf('entrypoint:\nmov64 r1, 12\nldxb r1, [r1 + 5]'))
  })

  it('expands macros within macros, with operands and labels of their own', () => {
    const source = `
.macro skip register
  jeq \\register, 0, over_\\@
  add64 \\register, 1 # not if it is zero
over_\\@:
.endm
.macro twice register
  skip \\register
  skip \\register
.endm
entrypoint:
  twice r3
  exit`

    const lines = disassemble(assemble(source).elf).split('\n')

    expect(lines.filter((line) => line.startsWith('  '))).toEqual([
      ...['  jeq r3, 0, at_2', '  add64 r3, 1', '  jeq r3, 0, at_4', '  add64 r3, 1', '  exit'],
    ])
  })

  it('tells the line that was written, its label and its text for each instruction', () => {
    const { instructions } = assemble('.macro end\nexit\n.endm\n; a comment\nentrypoint: mov64 r0, 0\n  end')

    expect(instructions.map(({ line, label, text }) => ({ line, label, text }))).toEqual([
      { line: 5, label: 'entrypoint', text: 'entrypoint: mov64 r0, 0' },
      { line: 6, label: 'entrypoint', text: 'exit' },
    ])
  })

  it.each([
    ['mov64 r1', 'wrong operands'],
    ['mov64 r11, 1', 'wrong operands'],
    ['mov64 r1, 2147483648', 'does not fit into 32 bits'],
    ['mov64 r1, unknown', 'unknown is not a value'],
    ['mov64 r1, 1 / 0', 'is not a value'],
    ['lddw r1, 0x10000000000000000', 'does not fit into 64 bits'],
    ['ldxdw r1, [r2 + 32768]', 'does not fit into 16 bits'],
    ['ldxdw r1, [r2]', 'is no memory operand'],
    ['ldxdw r1, [r2 + 2 * 3]', 'is no memory operand'],
    ['jeq r1, 1, nowhere', 'there is no label nowhere'],
    ['call nothing', 'nothing is no function'],
    ['hor64 r1, 1', 'unknown instruction'],
    ['.rodata', 'unknown directive'],
    ['.equ A, B', 'not a value'],
    ['entrypoint:', 'entrypoint is defined twice'],
    ['.macro a\nexit', 'this macro has no .endm'],
    ['.macro a\n.endm\n.macro a\n.endm', 'this macro exists'],
    ['.macro a x\nmov64 r1, \\x\n.endm\na', 'a takes 1 operands'],
    ['.macro a\nmov64 r1, \\y\n.endm\na', 'a has no parameter'],
    ['.macro a\na\n.endm\na', 'nested too deeply'],
  ])('refuses %s with the line', (line, message) => {
    const refused = () => assemble(`entrypoint:\n  exit\n${line}`)

    expect(refused).toThrow(AssemblyError)
    expect(refused).toThrow(message)
    expect(refused).toThrow(/^line \d/)
  })

  it('refuses a program without an entry point', () => {
    expect(() => assemble('exit')).toThrow('there is no label entrypoint')
  })

  it('refuses a jump over more than 32,767 instructions', () => {
    const far = `entrypoint:\nja end\n${'exit\n'.repeat(32_768)}end:\nexit`

    expect(() => assemble(far)).toThrow('end is too far away')
  })
})

describe('the disassembler', () => {
  it.each(encodings)('writes %s so that it assembles to the same bytes', (line) => {
    const { elf } = assemble(programOf(line))

    expect(assemble(disassemble(elf)).elf).toEqual(elf)
  })

  it('refuses a file of another form', () => {
    const { elf } = assemble('entrypoint:\nexit')
    const changed = elf.with(48, 2)

    expect(() => fromElf(changed)).toThrow('Not a program file')
    expect(() => fromElf(elf.slice(0, 100))).toThrow('Not a program file')
  })

  it('refuses bytes that are no instruction, or that end within one', () => {
    const { elf } = assemble('entrypoint:\nexit')

    expect(() => disassemble(elf.with(TEXT, 0xff))).toThrow('No instruction has the code 255')
    expect(() => decodeInstructions(Uint8Array.of(0x95, 0, 0))).toThrow(RangeError)
  })
})
