import {
  type Assembled,
  encodeInstructions,
  findOpcode,
  type Instruction,
  opcodes,
  toElf,
} from '@geoswap/sbpf'

/** A copy of the program with one mistake. `name` tells its place and the mistake, independent of line numbers. */
export type Mutant = { name: string; line: number; elf: Uint8Array }

type Change = { kind: string; instruction: Instruction }
type Program = { instructions: readonly Assembled[]; entry: number }

const NOTHING: Instruction = { code: 0x05, dst: 0, src: 0, offset: 0, imm: 0n }

/** Every mutant: at least one of each instruction. */
export function createMutants({ instructions, entry }: Program): Mutant[] {
  const names = nameAll(instructions)
  return instructions.flatMap((instruction, index) =>
    changesOf(instruction).map(({ kind, instruction: changed }) => {
      const copy: Instruction[] = [...instructions]
      copy[index] = changed
      const elf = toElf({ text: encodeInstructions(copy), entry })
      return { name: `${names[index]}: ${kind}`, line: instruction.line, elf }
    }),
  )
}

/** `label: text`, with a number if the block has the text more than once. */
function nameAll(instructions: readonly Assembled[]): string[] {
  const seen = new Map<string, number>()
  return instructions.map(({ label, text }) => {
    const name = `${label}: ${text}`
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return count === 1 ? name : `${name} #${count}`
  })
}

const inverses: Readonly<Record<string, string>> = {
  ...{ jeq: 'jne', jne: 'jeq', jgt: 'jle', jle: 'jgt', jge: 'jlt', jlt: 'jge' },
  ...{ jsgt: 'jsle', jsle: 'jsgt', jsge: 'jslt', jslt: 'jsge' },
}

function changesOf(instruction: Instruction): Change[] {
  const opcode = findOpcode(instruction)
  if (!opcode) throw new TypeError(`No instruction has the code ${instruction.code}`)
  const others = [1n, -1n].map((by) => ({
    kind: by > 0n ? 'constant + 1' : 'constant - 1',
    instruction: { ...instruction, imm: instruction.imm + by },
  }))
  const removed = { kind: 'removed', instruction: NOTHING }
  switch (opcode.form) {
    case 'jump-imm':
    case 'jump-reg': {
      const always = { kind: 'always', instruction: { ...NOTHING, offset: instruction.offset } }
      const never = { kind: 'never', instruction: NOTHING }
      const changes = [...invert(instruction, opcode.name), always, never]
      return opcode.form === 'jump-imm' ? [...changes, ...others] : changes
    }
    case 'load':
    case 'store-reg':
      return [...moves(instruction), removed]
    case 'store-imm':
      return [...moves(instruction), ...others, removed]
    case 'alu-imm':
      return [...others, removed]
    case 'load-imm64':
      return others
    default:
      return [removed]
  }
}

function invert(instruction: Instruction, name: string): Change[] {
  const form = findOpcode(instruction)?.form
  const inverse = opcodes.find((opcode) => opcode.name === inverses[name] && opcode.form === form)
  return inverse ? [{ kind: 'inverted', instruction: { ...instruction, code: inverse.code } }] : []
}

function moves(instruction: Instruction): Change[] {
  return [8, -8].map((by) => ({
    kind: by > 0 ? 'offset + 8' : 'offset - 8',
    instruction: { ...instruction, offset: instruction.offset + by },
  }))
}
