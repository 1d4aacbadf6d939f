import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { agree, majorityOf, medianOf, medianOfNodes, NoAgreementError, reachedByMajority } from './agree.ts'

const says = <T>(value: T) => Promise.resolve(value)
const fails = (why: string) => Promise.reject(new Error(why))
const never = <T>() => new Promise<T>(() => {})

test('one of one node, two of two, two of three and three of five are a majority', () => {
  expect([1, 2, 3, 4, 5].map(majorityOf)).toEqual([1, 2, 2, 3, 3])
})

test('a majority is believed while the rest is silent, fails or answers differently', async () => {
  expect(await agree([says('a'), never<string>(), says('a')], String)).toBe('a')
  expect(await agree([fails('down'), says('a'), says('a')], String)).toBe('a')
  expect(await agree([says('lie'), says('a'), says('a')], String)).toBe('a')
})

test('without a majority there is no answer', async () => {
  await expect(agree([says('a'), says('b')], String)).rejects.toBeInstanceOf(NoAgreementError)
  await expect(agree([says('a'), fails('down'), says('b')], String)).rejects.toBeInstanceOf(NoAgreementError)
})

test('if too few nodes are left to agree, the error of a failed one is thrown', async () => {
  await expect(agree([fails('down'), says('a')], String)).rejects.toThrow('down')
  await expect(agree([fails('down')], String)).rejects.toThrow('down')
})

test('a refusal of a majority is thrown, whenever a dead node fails, and never that of a single node', async () => {
  const refusalOf = (error: unknown) => (String(error).includes('reverted') ? 'reverted' : undefined)
  const asked = (...nodes: Promise<string>[]) => agree(nodes, String, refusalOf)
  const reverts = () => fails('execution reverted')

  for (const nodes of [
    [reverts(), fails('down'), reverts()],
    [fails('down'), reverts(), reverts()],
    [reverts(), reverts(), never<string>()],
    [reverts()],
  ])
    await expect(asked(...nodes)).rejects.toThrow('execution reverted')
  await expect(asked(reverts(), fails('down'), fails('away'))).rejects.toThrow('away')
  await expect(asked(reverts(), says('a'))).rejects.toBeInstanceOf(NoAgreementError)
  expect(await asked(reverts(), says('a'), says('a'))).toBe('a')
})

test('a node whose answer cannot be read has no vote', async () => {
  const nameOf = ({ name }: { name: string }) => name.trim()
  const malformed = says({} as { name: string })

  expect(await agree([malformed, says({ name: 'a' }), says({ name: 'a' })], nameOf)).toEqual({ name: 'a' })
  await expect(agree([malformed], nameOf)).rejects.toThrow(TypeError)
})

test('the answer of a majority stands, whatever the other nodes answer', async () => {
  const lies = fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(lies, fc.integer({ min: 1, max: 4 }), async (said, more) => {
      const honest = Array.from({ length: said.length + more }, () => says('truth'))
      expect(await agree([...said.map(says), ...honest], String)).toBe('truth')
    }),
  )
})

test('the head is the highest that a majority reached: neither a node ahead nor one behind counts', async () => {
  expect(await reachedByMajority([says(5n), says(9n), says(5n)], BigInt)).toBe(5n)
  expect(await reachedByMajority([says(5n), says(1n), says(6n)], BigInt)).toBe(5n)
  expect(await reachedByMajority([says(5n), says(4n)], BigInt)).toBe(4n)
})

test('a silent node is awaited only briefly', async () => {
  vi.useFakeTimers()
  const head = reachedByMajority([says(5n), never<bigint>(), says(6n)], BigInt)
  await vi.advanceTimersByTimeAsync(250)
  expect(await head).toBe(5n)
  vi.useRealTimers()
})

test('no head is known if too few nodes answer', async () => {
  await expect(reachedByMajority([fails('down'), says(5n)], BigInt)).rejects.toThrow('down')
})

test('a figure is the median of the nodes, and the lower one of two', async () => {
  expect(medianOf([7n])).toBe(7n)
  expect(medianOf([9n, 7n])).toBe(7n)
  expect(medianOf([9_000n, 7n, 8n])).toBe(8n)
  expect(await medianOfNodes([says(9_000n), says(7n), says(8n)])).toBe(8n)
  expect(await medianOfNodes([fails('down'), says(7n), says(8n)])).toBe(7n)
  await expect(medianOfNodes([fails('down'), says(7n)])).rejects.toThrow('down')
})

test('a figure is within those of a majority, whatever the other nodes answer', () => {
  const figures = fc.array(fc.bigInt({ min: 0n, max: 1_000n }), { minLength: 1, maxLength: 5 })
  const lies = fc.array(fc.bigInt({ min: 0n, max: 10n ** 30n }), { maxLength: 4 })
  fc.assert(
    fc.property(figures, lies, (honest, said) => {
      fc.pre(said.length < honest.length)
      const ordered = honest.toSorted((a, b) => (a < b ? -1 : 1))
      const median = medianOf([...said, ...honest])
      expect(median).toBeGreaterThanOrEqual(ordered[0] ?? 0n)
      expect(median).toBeLessThanOrEqual(ordered.at(-1) ?? 0n)
    }),
  )
})
