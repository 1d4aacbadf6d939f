/** The operands of an instruction, in the order in which they are written. */
export type Form =
  | 'alu-imm'
  | 'alu-reg'
  | 'unary'
  | 'load'
  | 'load-imm64'
  | 'store-imm'
  | 'store-reg'
  | 'jump'
  | 'jump-imm'
  | 'jump-reg'
  | 'call'
  | 'call-reg'
  | 'exit'

/** `imm` is the fixed immediate of an instruction that writes none, such as the width of a byte swap. */
export type Opcode = { name: string; form: Form; code: number; imm?: bigint }

const LOAD = 0x61
const STORE_IMM = 0x62
const STORE_REG = 0x63
const ALU32 = 0x04
const JUMP = 0x05
const JUMP32 = 0x06
const ALU64 = 0x07
const BY_REGISTER = 0x08

const operations = {
  add: 0x00,
  sub: 0x10,
  mul: 0x20,
  div: 0x30,
  or: 0x40,
  and: 0x50,
  lsh: 0x60,
  rsh: 0x70,
  mod: 0x90,
  xor: 0xa0,
  mov: 0xb0,
  arsh: 0xc0,
}
const NEGATE = 0x80
const SWAP_TO_LITTLE = 0xd4
const SWAP_TO_BIG = 0xdc

const conditions = {
  jeq: 0x10,
  jgt: 0x20,
  jge: 0x30,
  jset: 0x40,
  jne: 0x50,
  jsgt: 0x60,
  jsge: 0x70,
  jlt: 0xa0,
  jle: 0xb0,
  jslt: 0xc0,
  jsle: 0xd0,
}

const sizes = { w: 0x00, h: 0x08, b: 0x10, dw: 0x18 }

/** Every instruction of sBPF version 3. */
export const opcodes: readonly Opcode[] = [
  ...Object.entries(operations).flatMap(([name, operation]) => [
    ...both(`${name}32`, 'alu', operation | ALU32),
    ...both(`${name}64`, 'alu', operation | ALU64),
  ]),
  { name: 'neg32', form: 'unary', code: NEGATE | ALU32 },
  { name: 'neg64', form: 'unary', code: NEGATE | ALU64 },
  ...[16n, 32n, 64n].flatMap((imm): Opcode[] => [
    { name: `le${imm}`, form: 'unary', code: SWAP_TO_LITTLE, imm },
    { name: `be${imm}`, form: 'unary', code: SWAP_TO_BIG, imm },
  ]),
  ...Object.entries(sizes).flatMap(([name, size]): Opcode[] => [
    { name: `ldx${name}`, form: 'load', code: LOAD | size },
    { name: `st${name}`, form: 'store-imm', code: STORE_IMM | size },
    { name: `stx${name}`, form: 'store-reg', code: STORE_REG | size },
  ]),
  { name: 'lddw', form: 'load-imm64', code: 0x18 },
  { name: 'ja', form: 'jump', code: JUMP },
  ...Object.entries(conditions).flatMap(([name, condition]) => [
    ...both(name, 'jump', condition | JUMP),
    ...both(`${name}32`, 'jump', condition | JUMP32),
  ]),
  { name: 'call', form: 'call', code: 0x85 },
  { name: 'callx', form: 'call-reg', code: 0x8d },
  { name: 'exit', form: 'exit', code: 0x95 },
]

function both(name: string, kind: 'alu' | 'jump', code: number): Opcode[] {
  return [
    { name, form: `${kind}-imm`, code },
    { name, form: `${kind}-reg`, code: code | BY_REGISTER },
  ]
}

const byCode = new Map(opcodes.filter(({ imm }) => imm === undefined).map((opcode) => [opcode.code, opcode]))
const swaps = opcodes.filter(({ imm }) => imm !== undefined)

/** Undefined if no instruction has this code, or a byte swap has no such width. */
export function findOpcode({ code, imm }: { code: number; imm: bigint }): Opcode | undefined {
  return byCode.get(code) ?? swaps.find((opcode) => opcode.code === code && opcode.imm === imm)
}
