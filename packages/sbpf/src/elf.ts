const HEADER_BYTES = 64
const PROGRAM_HEADER_BYTES = 56
const TEXT_OFFSET = HEADER_BYTES + PROGRAM_HEADER_BYTES
const TEXT_ADDRESS = 1n << 32n
const SBPF_V3 = 3
const MACHINE_BPF = 247
const SHARED_OBJECT = 3
const LOADED = 1
const EXECUTABLE = 1
const MAGIC = [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]

export type Executable = {
  text: Uint8Array
  /** The offset of the first instruction in `text`. */
  entry: number
}

/** A program file of sBPF version 3: two headers and the instructions, no sections and no relocations. */
export function toElf({ text, entry }: Executable): Uint8Array {
  const bytes = new Uint8Array(TEXT_OFFSET + text.length)
  const view = new DataView(bytes.buffer)
  bytes.set(MAGIC)
  view.setUint16(16, SHARED_OBJECT, true)
  view.setUint16(18, MACHINE_BPF, true)
  view.setUint32(20, 1, true)
  view.setBigUint64(24, TEXT_ADDRESS + BigInt(entry), true)
  view.setBigUint64(32, BigInt(HEADER_BYTES), true)
  view.setUint32(48, SBPF_V3, true)
  view.setUint16(52, HEADER_BYTES, true)
  view.setUint16(54, PROGRAM_HEADER_BYTES, true)
  view.setUint16(56, 1, true)
  view.setUint16(58, HEADER_BYTES, true)
  view.setUint32(64, LOADED, true)
  view.setUint32(68, EXECUTABLE, true)
  view.setBigUint64(72, BigInt(TEXT_OFFSET), true)
  view.setBigUint64(80, TEXT_ADDRESS, true)
  view.setBigUint64(88, TEXT_ADDRESS, true)
  view.setBigUint64(96, BigInt(text.length), true)
  view.setBigUint64(104, BigInt(text.length), true)
  bytes.set(text, TEXT_OFFSET)
  return bytes
}

/** Throws unless the file has the form that `toElf` writes. */
export function fromElf(elf: Uint8Array): Executable {
  const text = elf.slice(TEXT_OFFSET)
  const view = new DataView(elf.buffer, elf.byteOffset, elf.byteLength)
  const entry = elf.length < TEXT_OFFSET ? 0 : Number(view.getBigUint64(24, true) - TEXT_ADDRESS)
  const again = toElf({ text, entry })
  if (elf.length < TEXT_OFFSET || again.some((byte, index) => byte !== elf[index])) {
    throw new TypeError('Not a program file of sBPF version 3 without sections')
  }
  return { text, entry }
}
