import { expect, test } from 'vitest'
import { createOpenOffers, rulesWithin, shareOf } from './open-offers.ts'

const LIFE_MS = 120_000

/** A ledger of two offers and 100 cents for each address, by a clock that the test moves. */
function createLedger() {
  const clock = { ms: 0 }
  const offers = createOpenOffers({ offers: 2, cents: 100n }, () => clock.ms)
  let opened = 0
  const open = (network: string, cents: bigint, name = `0xA${opened++}`) =>
    offers.open(network, cents, async () => ({ built: name, name, expiresAt: clock.ms + LIFE_MS }))
  return { clock, offers, open }
}

test('an address holds a share of the open offers and of their value until they expire', async () => {
  const { clock, open } = createLedger()
  await open('one', 60n)
  clock.ms = 1_000

  await expect(open('one', 41n)).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    recovery: { retryAfterMs: LIFE_MS - 1_000 },
  })
  await open('one', 40n)
  await expect(open('one', 0n)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  await open('other', 100n)

  clock.ms = LIFE_MS
  await open('one', 60n)
})

test('an offer that is paid, or that could not be built, is not open', async () => {
  const { offers, open } = createLedger()
  await open('one', 100n, '0xAb')
  offers.close('0xaB')
  const failing = offers.open('one', 100n, async () => Promise.reject(new Error('no build')))

  await expect(failing).rejects.toThrow('no build')
  expect(await open('one', 100n, '0xA')).toBe('0xA')
})

test('an op that is built again counts once, and the first may be of any value', async () => {
  const { open } = createLedger()
  await open('one', 101n, '0xa')

  await expect(open('one', 0n, '0xA')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  await open('other', 40n, '0xb')
  await open('other', 40n, '0xB')
  await open('other', 60n)
})

test('offers that are being built count, so that calls at once do not pass the limit', async () => {
  const { open } = createLedger()

  const results = await Promise.allSettled([1n, 1n, 1n].map((cents) => open('one', cents)))

  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
})

test('an address may hold a quarter of the account, divided among the processes, and no swap is larger', () => {
  const account = { maxUnsubmitted: 256, maxUnsubmittedCents: 40_000n }
  const share = shareOf({ ...account, apiProcesses: 2 })

  expect(share).toEqual({ offers: 32, cents: 5_000n })
  expect(shareOf({ ...account, apiProcesses: 500 }).offers).toBe(1)
  expect(rulesWithin(share, {})).toEqual({ maxSwapCents: 5_000 })
  expect(rulesWithin(share, { maxSwapCents: 7, tokens: [] })).toEqual({ maxSwapCents: 7, tokens: [] })
})
