import { toElf } from './elf.ts'
import { evaluate } from './expression.ts'
import { encodeInstructions, type Instruction, SLOT_BYTES } from './instruction.ts'
import { AssemblyError, type Line, readLines, splitOperands } from './lines.ts'
import { murmur3 } from './murmur3.ts'
import { type Form, type Opcode, opcodes } from './opcodes.ts'

export type Assembled = Instruction & {
  /** The line of the source; for a line of a macro, the line that uses the macro. */
  line: number
  text: string
  /** The last label before it. */
  label: string
}

export type Assembly = { elf: Uint8Array; instructions: Assembled[]; entry: number }

type Statement = { line: Line; label: string; name: string; operands: string[]; slot: number }
type Program = { statements: Statement[]; labels: Map<string, number>; values: Map<string, bigint> }

const ENTRY = 'entrypoint'

/** Assembles a program in the syntax of the public `sbpf` assembler for version 3. Throws an AssemblyError. */
export function assemble(source: string): Assembly {
  const program = readProgram(readLines(source))
  const instructions = program.statements.map((statement) => ({
    ...toInstruction(statement, program),
    line: statement.line.number,
    text: statement.line.text,
    label: statement.label,
  }))
  const entry = program.labels.get(ENTRY)
  if (entry === undefined) throw new AssemblyError({ number: 1, text: '' }, `there is no label ${ENTRY}`)
  const bytes = { text: encodeInstructions(instructions), entry: entry * SLOT_BYTES }
  return { elf: toElf(bytes), instructions, entry: bytes.entry }
}

function readProgram(lines: readonly Line[]): Program {
  const program: Program = { statements: [], labels: new Map(), values: new Map() }
  let slot = 0
  let last = ''
  for (const line of lines) {
    const [, label, rest = ''] = /^(?:(\w+):)?\s*(.*)$/.exec(line.text) ?? []
    if (label !== undefined) define(program, { line, name: label, value: slot, in: 'labels' })
    last = label ?? last
    if (rest === '' || readDirective(rest, { program, line })) continue
    const [, name = '', operands = ''] = /^(\w+)\s*(.*)$/.exec(rest) ?? []
    program.statements.push({ line, label: last, name, operands: splitOperands(operands), slot })
    slot += name === 'lddw' ? 2 : 1
  }
  return program
}

type Definition =
  | { line: Line; name: string; value: number; in: 'labels' }
  | { line: Line; name: string; value: bigint; in: 'values' }

function define({ labels, values }: Program, definition: Definition): void {
  const { line, name } = definition
  if (labels.has(name) || values.has(name)) throw new AssemblyError(line, `${name} is defined twice`)
  if (definition.in === 'labels') labels.set(name, definition.value)
  else values.set(name, definition.value)
}

function readDirective(text: string, { program, line }: { program: Program; line: Line }): boolean {
  if (!text.startsWith('.')) return false
  if (/^\.globl\s+\w+$|^\.text$/.test(text)) return true
  const [, name, expression] = /^\.equ\s+(\w+)\s*,\s*(.+)$/.exec(text) ?? []
  if (name === undefined || expression === undefined) throw new AssemblyError(line, 'unknown directive')
  const value = evaluate(expression, (used) => program.values.get(used))
  if (value === undefined) throw new AssemblyError(line, 'not a value')
  define(program, { line, name, value, in: 'values' })
  return true
}

function toInstruction(statement: Statement, program: Program): Instruction {
  const { line, name, operands } = statement
  const shapes = operands.map(shapeOf)
  const candidates = opcodes.filter((opcode) => opcode.name === name)
  if (candidates.length === 0) throw new AssemblyError(line, 'unknown instruction')
  const opcode = candidates.find(({ form }) => matches(shapesOf[form], shapes))
  if (!opcode) throw new AssemblyError(line, 'wrong operands')
  return encode(opcode, { statement, program })
}

type Shape = 'register' | 'memory' | 'expression'

const shapesOf: Readonly<Record<Form, readonly Shape[]>> = {
  'alu-imm': ['register', 'expression'],
  'alu-reg': ['register', 'register'],
  unary: ['register'],
  load: ['register', 'memory'],
  'load-imm64': ['register', 'expression'],
  'store-imm': ['memory', 'expression'],
  'store-reg': ['memory', 'register'],
  jump: ['expression'],
  'jump-imm': ['register', 'expression', 'expression'],
  'jump-reg': ['register', 'register', 'expression'],
  call: ['expression'],
  'call-reg': ['register'],
  exit: [],
}

function shapeOf(operand: string): Shape {
  if (/^r(10|\d)$/.test(operand)) return 'register'
  return operand.startsWith('[') ? 'memory' : 'expression'
}

function matches(wanted: readonly Shape[], given: readonly Shape[]): boolean {
  return wanted.length === given.length && wanted.every((shape, index) => shape === given[index])
}

type Context = { statement: Statement; program: Program }

function encode({ form, code, imm = 0n }: Opcode, context: Context): Instruction {
  const [first = '', second = '', third = ''] = context.statement.operands
  const base = { code, dst: 0, src: 0, offset: 0, imm }
  const number = (text: string, bits: number) => toNumber(text, bits, context)
  switch (form) {
    case 'alu-imm':
      return { ...base, dst: toRegister(first), imm: number(second, 32) }
    case 'alu-reg':
      return { ...base, dst: toRegister(first), src: toRegister(second) }
    case 'unary':
    case 'call-reg':
      return { ...base, dst: toRegister(first) }
    case 'load': {
      const { register, offset } = toMemory(second, context)
      return { ...base, dst: toRegister(first), src: register, offset }
    }
    case 'load-imm64':
      return { ...base, dst: toRegister(first), imm: BigInt.asUintN(64, number(second, 64)) }
    case 'store-imm': {
      const { register, offset } = toMemory(first, context)
      return { ...base, dst: register, offset, imm: number(second, 32) }
    }
    case 'store-reg': {
      const { register, offset } = toMemory(first, context)
      return { ...base, dst: register, src: toRegister(second), offset }
    }
    case 'jump':
      return { ...base, offset: toJump(first, context) }
    case 'jump-imm':
      return { ...base, dst: toRegister(first), imm: number(second, 32), offset: toJump(third, context) }
    case 'jump-reg':
      return { ...base, dst: toRegister(first), src: toRegister(second), offset: toJump(third, context) }
    case 'call':
      return { ...base, ...toCall(first, context) }
    case 'exit':
      return base
  }
}

function toRegister(text: string): number {
  return Number(text.slice(1))
}

/** Immediates are signed; 64 bits may also be written unsigned. */
function toNumber(text: string, bits: number, { statement, program }: Context): bigint {
  const value = evaluate(text, (name) => program.values.get(name))
  if (value === undefined) throw new AssemblyError(statement.line, `${text} is not a value`)
  if (BigInt.asIntN(bits, value) !== value && !(bits === 64 && BigInt.asUintN(64, value) === value)) {
    throw new AssemblyError(statement.line, `${value} does not fit into ${bits} bits`)
  }
  return value
}

function toMemory(text: string, context: Context): { register: number; offset: number } {
  const [, register, offset] = /^\[\s*(r(?:10|\d))((?:\s*[+-]\s*\w+)+)\s*\]$/.exec(text) ?? []
  if (register === undefined || offset === undefined) {
    throw new AssemblyError(context.statement.line, `${text} is no memory operand`)
  }
  return { register: toRegister(register), offset: Number(toNumber(`0 ${offset}`, 16, context)) }
}

function toJump(label: string, context: Context): number {
  const { statement, program } = context
  const target = program.labels.get(label)
  if (target === undefined) throw new AssemblyError(statement.line, `there is no label ${label}`)
  const distance = target - statement.slot - 1
  if (distance !== (distance << 16) >> 16) throw new AssemblyError(statement.line, `${label} is too far away`)
  return distance
}

/** A function of the program by its distance, else a system call by its hash. */
function toCall(name: string, { statement, program }: Context): Pick<Instruction, 'src' | 'imm'> {
  const target = program.labels.get(name)
  if (target !== undefined) return { src: 1, imm: BigInt(target - statement.slot - 1) }
  if (!/^(sol_\w+|abort)$/.test(name)) throw new AssemblyError(statement.line, `${name} is no function`)
  return { src: 0, imm: BigInt(murmur3(name)) }
}
