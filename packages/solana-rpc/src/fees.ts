import type { Message } from './wire-transaction.ts'

// Agave's fee structure and compute budget defaults (SIMD-170 for built-in programs).
const LAMPORTS_PER_SIGNATURE = 5000n
const MAX_COMPUTE_UNITS = 1_400_000n
const UNITS_PER_INSTRUCTION = 200_000n
const UNITS_PER_BUILTIN_INSTRUCTION = 3_000n
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111'
const PRECOMPILES: ReadonlySet<string> = new Set([
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
])
const BUILTINS: ReadonlySet<string> = new Set([
  ...PRECOMPILES,
  COMPUTE_BUDGET,
  '11111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
])

/** The fee of this message: its signatures, and its price for compute. */
export function feeOf(message: Message): bigint {
  const called = message.instructions.map(({ programIndex, data }) => {
    return { program: message.keys[programIndex] ?? '', data: Buffer.from(data) }
  })
  const verified = called.filter(({ program }) => PRECOMPILES.has(program)).map(({ data }) => data[0] ?? 0)
  const signatures = verified.reduce((total, count) => total + count, message.header.signers)
  const budget = called.filter(({ program }) => program === COMPUTE_BUDGET).map(({ data }) => data)
  // Compute budget instructions: 2 is SetComputeUnitLimit(u32), 3 is SetComputeUnitPrice(u64 micro-lamports).
  const limit = budget.find((data) => data[0] === 2 && data.length >= 5)
  const price = budget.find((data) => data[0] === 3 && data.length >= 9)
  const units = limit ? BigInt(limit.readUInt32LE(1)) : defaultUnits(called.map(({ program }) => program))
  const microLamports = (price ? price.readBigUInt64LE(1) : 0n) * minimum(units, MAX_COMPUTE_UNITS)
  return LAMPORTS_PER_SIGNATURE * BigInt(signatures) + (microLamports + 999_999n) / 1_000_000n
}

function defaultUnits(programs: readonly string[]): bigint {
  return programs
    .map((program) => (BUILTINS.has(program) ? UNITS_PER_BUILTIN_INSTRUCTION : UNITS_PER_INSTRUCTION))
    .reduce((total, units) => total + units, 0n)
}

function minimum(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
