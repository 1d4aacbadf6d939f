const FIRST = 0xcc9e2d51
const SECOND = 0x1b873593

/** MurmurHash3 of 32 bits with seed 0: the number of a system call is the hash of its name. */
export function murmur3(text: string): number {
  const bytes = new TextEncoder().encode(text)
  const whole = bytes.length & ~3
  let hash = 0
  for (let at = 0; at < whole; at += 4) {
    hash = Math.imul(rotate(hash ^ mix(word(bytes.subarray(at, at + 4))), 13), 5) + 0xe6546b64
  }
  hash ^= mix(word(bytes.subarray(whole)))
  return finish(hash ^ bytes.length)
}

function word(bytes: Uint8Array): number {
  return bytes.reduceRight((total, byte) => (total << 8) | byte, 0)
}

function mix(value: number): number {
  return Math.imul(rotate(Math.imul(value, FIRST), 15), SECOND)
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}

function finish(value: number): number {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) | 0
}
