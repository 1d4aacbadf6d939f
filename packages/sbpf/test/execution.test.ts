import { FailedTransactionMetadata, LiteSvm } from 'litesvm/dist/internal.js'
import { describe, expect, it } from 'vitest'
import { assemble } from '../src/index.ts'

const PAYER = new Uint8Array(32).fill(1)
const PROGRAM = new Uint8Array(32).fill(2)

/** Runs a program on the virtual machine of Solana; its result is the custom error. 0 is success. */
function run(body: string): number {
  const svm = new LiteSvm()
  svm.setSigverify(false)
  svm.setBlockhashCheck(false)
  svm.addProgram(PROGRAM, assemble(`entrypoint:\n${body}\n  exit\n`).elf)
  svm.airdrop(PAYER, 1_000_000_000n)
  const header = [1, ...new Uint8Array(64), 0x80, 1, 0, 1, 2]
  const call = [1, 1, 0, 0, 0]
  const result = svm.sendVersionedTransaction(
    Uint8Array.from([...header, ...PAYER, ...PROGRAM, ...new Uint8Array(32), ...call]),
  )
  if (!(result instanceof FailedTransactionMetadata)) return 0
  const error = result.err()
  const inner = typeof error === 'object' && 'err' in error ? error.err() : undefined
  if (typeof inner !== 'object' || !('code' in inner)) throw new Error(result.toString())
  return inner.code
}

/** Two operations on 100 and 7 in both widths, as the machine has to compute them. */
const operations: readonly (readonly [name: string, value: number])[] = [
  ...([
    ['add', 107],
    ['sub', 93],
    ['mul', 700],
    ['div', 14],
    ['mod', 2],
    ['or', 103],
    ['and', 4],
  ] as const),
  ...([
    ['xor', 99],
    ['lsh', 12_800],
    ['rsh', 0x40],
    ['arsh', 0x40],
    ['mov', 7],
  ] as const),
]

const conditions: readonly (readonly [name: string, left: number, right: number, jumps: boolean])[] = [
  ...([
    ['jeq', 1, 1, true],
    ['jeq', 1, 2, false],
    ['jne', 1, 2, true],
    ['jne', 1, 1, false],
  ] as const),
  ...([
    ['jgt', -1, 1, true],
    ['jgt', 1, 1, false],
    ['jge', 1, 1, true],
    ['jge', 1, -1, false],
  ] as const),
  ...([
    ['jlt', 1, -1, true],
    ['jlt', 1, 1, false],
    ['jle', 1, 1, true],
    ['jle', -1, 1, false],
  ] as const),
  ...([
    ['jsgt', 1, -1, true],
    ['jsgt', 1, 1, false],
    ['jsge', 1, 1, true],
    ['jsge', -1, 1, false],
  ] as const),
  ...([
    ['jslt', -1, 1, true],
    ['jslt', 1, 1, false],
    ['jsle', 1, 1, true],
    ['jsle', 1, -1, false],
  ] as const),
  ...([
    ['jset', 6, 2, true],
    ['jset', 4, 2, false],
  ] as const),
]

describe('an assembled program on the virtual machine', () => {
  it.each(operations)('%s of 100 and 7', (name, value) => {
    const left = name === 'rsh' || name === 'arsh' ? 0x2000 : 100

    for (const width of [64, 32]) {
      expect(run(`mov64 r0, ${left}\n${name}${width} r0, 7`)).toBe(value)
      expect(run(`mov64 r0, ${left}\nmov64 r1, 7\n${name}${width} r0, r1`)).toBe(value)
    }
  })

  it.each(conditions)('%s of %i and %i', (name, left, right, jumps) => {
    for (const width of ['', '32']) {
      const end = 'mov64 r0, 5\nexit\ntaken:\nmov64 r0, 9'

      expect(run(`mov64 r1, ${left}\n${name}${width} r1, ${right}, taken\n${end}`)).toBe(jumps ? 9 : 5)
      expect(run(`mov64 r1, ${left}\nmov64 r2, ${right}\n${name}${width} r1, r2, taken\n${end}`)).toBe(
        jumps ? 9 : 5,
      )
    }
  })

  it('stores and loads one, two, four and eight bytes', () => {
    for (const [size, mask] of [
      ['b', 0x88],
      ['h', 0x7788],
      ['w', 0x55667788],
    ] as const) {
      const store = `lddw r1, 0x1122334455667788\nstx${size} [r10 - 8], r1\nldx${size} r0, [r10 - 8]`

      expect(run(store)).toBe(mask)
    }
    expect(run('lddw r1, 0x1122334455667788\nstxdw [r10 - 8], r1\nldxdw r0, [r10 - 8]\nrsh64 r0, 40')).toBe(
      0x112233,
    )
    expect(run('stdw [r10 - 8], 77\nldxdw r0, [r10 - 8]')).toBe(77)
    expect(run('sth [r10 - 8], 0x101\nldxb r0, [r10 - 7]')).toBe(1)
  })

  it('negates and swaps bytes', () => {
    expect(run('mov64 r0, -3\nneg64 r0')).toBe(3)
    expect(run('mov64 r0, -3\nneg32 r0')).toBe(3)
    expect(run('mov64 r0, 0x1122\nbe16 r0')).toBe(0x2211)
    expect(run('lddw r0, 0x1122334455\nle32 r0')).toBe(0x22334455)
  })

  it('calls functions, which keep r6 to r9 of their caller, and system calls by name', () => {
    const source = 'mov64 r6, 40\ncall add_two\nadd64 r0, r6\nexit\nadd_two:\nmov64 r6, 1\nmov64 r0, 2\nexit'

    expect(run(source)).toBe(42)
    expect(run('mov64 r1, r10\nsub64 r1, 40\ncall sol_get_clock_sysvar\nadd64 r0, 3')).toBe(3)
  })
})
