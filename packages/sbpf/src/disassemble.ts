import { fromElf } from './elf.ts'
import { decodeInstructions, type Instruction, SLOT_BYTES, slotsOf } from './instruction.ts'
import { murmur3 } from './murmur3.ts'
import { findOpcode } from './opcodes.ts'

/** The system calls whose numbers are shown by name. */
const SYSTEM_CALLS = [
  'abort',
  'sol_create_program_address',
  'sol_get_clock_sysvar',
  'sol_get_rent_sysvar',
  'sol_get_sysvar',
  'sol_invoke_signed_c',
  'sol_log_',
  'sol_log_64_',
  'sol_memcmp_',
  'sol_memcpy_',
  'sol_memmove_',
  'sol_memset_',
  'sol_sha256',
  'sol_try_find_program_address',
]
const callNames = new Map(SYSTEM_CALLS.map((name) => [BigInt(murmur3(name)), name]))

/** The program as source that assembles to the same bytes. Throws for bytes that are no instruction. */
export function disassemble(elf: Uint8Array): string {
  const { text, entry } = fromElf(elf)
  const placed = place(decodeInstructions(text))
  const labels = new Map(placed.flatMap(targetOf).map((slot) => [slot, `at_${slot}`]))
  labels.set(entry / SLOT_BYTES, 'entrypoint')
  const lines = placed.flatMap((instruction) => {
    const label = labels.get(instruction.slot)
    return [...(label ? [`${label}:`] : []), `  ${write(instruction, labels)}`]
  })
  return `${['.globl entrypoint', ...lines].join('\n')}\n`
}

type Placed = Instruction & { slot: number }

function place(instructions: readonly Instruction[]): Placed[] {
  let slot = 0
  return instructions.map((instruction) => {
    const placed = { ...instruction, slot }
    slot += slotsOf(instruction)
    return placed
  })
}

function targetOf(instruction: Placed): number[] {
  const form = findOpcode(instruction)?.form
  if (form?.startsWith('jump')) return [instruction.slot + 1 + instruction.offset]
  return form === 'call' && instruction.src === 1 ? [instruction.slot + 1 + Number(instruction.imm)] : []
}

/** One instruction as it is written; jumps name the label of their target. */
function write(instruction: Placed, labels: ReadonlyMap<number, string>): string {
  const opcode = findOpcode(instruction)
  if (!opcode) throw new TypeError(`No instruction has the code ${instruction.code}`)
  const { dst, src, imm } = instruction
  const target = labels.get(targetOf(instruction)[0] ?? -1)
  const operands: readonly (string | bigint | undefined)[] = {
    'alu-imm': [`r${dst}`, imm],
    'alu-reg': [`r${dst}`, `r${src}`],
    unary: [`r${dst}`],
    load: [`r${dst}`, memory(src, instruction)],
    'load-imm64': [`r${dst}`, `0x${imm.toString(16)}`],
    'store-imm': [memory(dst, instruction), imm],
    'store-reg': [memory(dst, instruction), `r${src}`],
    jump: [target],
    'jump-imm': [`r${dst}`, imm, target],
    'jump-reg': [`r${dst}`, `r${src}`, target],
    call: [src === 1 ? target : callNames.get(imm)],
    'call-reg': [`r${dst}`],
    exit: [],
  }[opcode.form]
  if (operands.includes(undefined)) throw new TypeError(`Nothing is known at the target of ${opcode.name}`)
  return `${opcode.name} ${operands.join(', ')}`.trim()
}

function memory(register: number, { offset }: Instruction): string {
  return `[r${register} ${offset < 0 ? '-' : '+'} ${Math.abs(offset)}]`
}
