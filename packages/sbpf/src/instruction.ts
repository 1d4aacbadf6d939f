/** One instruction in its binary fields. `lddw` is one instruction of two slots with an immediate of 64 bits. */
export type Instruction = { code: number; dst: number; src: number; offset: number; imm: bigint }

export const SLOT_BYTES = 8
const LOAD_IMM64 = 0x18

export function slotsOf({ code }: Pick<Instruction, 'code'>): number {
  return code === LOAD_IMM64 ? 2 : 1
}

export function encodeInstructions(instructions: readonly Instruction[]): Uint8Array {
  const slots = instructions.reduce((total, instruction) => total + slotsOf(instruction), 0)
  const bytes = new Uint8Array(slots * SLOT_BYTES)
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const instruction of instructions) {
    const { code, dst, src, offset, imm } = instruction
    view.setUint8(at, code)
    view.setUint8(at + 1, (src << 4) | dst)
    view.setInt16(at + 2, offset, true)
    view.setInt32(at + 4, Number(BigInt.asIntN(32, imm)), true)
    if (code === LOAD_IMM64) view.setInt32(at + 12, Number(BigInt.asIntN(32, imm >> 32n)), true)
    at += slotsOf(instruction) * SLOT_BYTES
  }
  return bytes
}

/** Throws if the bytes end within an instruction. */
export function decodeInstructions(text: Uint8Array): Instruction[] {
  const view = new DataView(text.buffer, text.byteOffset, text.byteLength)
  const instructions: Instruction[] = []
  for (let at = 0; at < text.length; at += slotsOf(instructions.at(-1) ?? { code: 0 }) * SLOT_BYTES) {
    const code = view.getUint8(at)
    const registers = view.getUint8(at + 1)
    const low = view.getInt32(at + 4, true)
    const isWide = code === LOAD_IMM64
    instructions.push({
      code,
      dst: registers & 15,
      src: registers >> 4,
      offset: view.getInt16(at + 2, true),
      imm: isWide ? joinHalves(low, view.getInt32(at + 12, true)) : BigInt(low),
    })
  }
  return instructions
}

function joinHalves(low: number, high: number): bigint {
  return BigInt.asUintN(64, (BigInt(high) << 32n) | BigInt.asUintN(32, BigInt(low)))
}
