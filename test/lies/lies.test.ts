import { depositAddressOf, hashGeoOp } from '@geoswap/protocol'
import {
  BuildGeoOpReply,
  BuildSolanaTxReply,
  DelegationReply,
  QuoteReply,
  StatusReply,
  SubmitReply,
} from '@geoswap/wire'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readGeoOp } from '../../packages/sdk/src/checks/read-fields.ts'
import { evmRequest } from '../../packages/sdk/test/evm-offer.ts'
import { solanaRequest } from '../../packages/sdk/test/solana-offer.ts'
import { type Liar, type Lie, startLiar } from './liar.ts'
import { errorLies, leafLies, opLies, solanaLies, statusLies } from './lies.ts'
import { bySdkOnSolana, openDeposit, type Trader, traders, walletAddress } from './traders.ts'
import { type Asked, findHarm, opHarm } from './verdict.ts'

const paid: Asked = {
  request: { ...evmRequest, walletAddress },
  maxInput: 10_000_000n,
  minOutput: 9_500_000n,
}
const bought: Asked = {
  request: { ...paid.request, tradeType: 'exactOutput' },
  ...{ maxInput: 10_526_315n, minOutput: 10_000_000n },
}
const fromSolana: Asked = { ...paid, request: solanaRequest }

// Traders wait for the end of a swap more than they work.
const AT_ONCE = 4

let liars: Liar[]
let liar: Liar
beforeAll(async () => {
  liars = await Promise.all(Array.from({ length: AT_ONCE }, startLiar))
  liar = liars[0] ?? expect.unreachable()
})
afterAll(() => Promise.all(liars.map((each) => each.close())))

/** The honest replies of the service. */
function honest(path: string, { request } = paid) {
  liar.begin(undefined)
  const url = new URL(`http://service/?chainId=${request.originChain}&walletAddress=${request.walletAddress}`)
  const { geoQuoteToken } = liar.offers.answer('/swap/quote', url, request).body as { geoQuoteToken: string }
  const body = path === '/swap/quote' ? request : { geoQuoteToken, geoOpToken: 'op' }
  return JSON.parse(JSON.stringify(liar.offers.answer(path, url, body).body))
}

function toOffered({ domain, message }: { domain: Record<string, unknown>; message: unknown }) {
  const escrow = domain['verifyingContract'] as `0x${string}`
  return { op: readGeoOp(message), origin: { chainId: Number(domain['chainId']), escrow } }
}

/** Each settled swap was requested; besides those, at most one can be open. */
async function harmOf(liar: Liar, trader: Trader, { lie, asked }: { lie: Lie; asked: Asked }) {
  liar.begin(lie)
  // A lie about a submission tries to obtain a second signature.
  const times = /submit|status/.test(lie.path) ? 2 : 1
  const settled = await trader(liar, { isExactOutput: asked === bought, times })
  const total = asked.maxInput * BigInt(settled + 1)
  const harm = findHarm(liar.handed(), liar.offers.offered(), asked, total)
  return harm.map((each) => `${lie.name}: ${each}`)
}

async function harmOfAll(trader: Trader, lies: readonly Lie[], asked = paid): Promise<string[]> {
  const waiting = [...lies]
  const found: string[] = []
  const tellAll = async (own: Liar) => {
    for (let lie = waiting.shift(); lie; lie = waiting.shift())
      found.push(...(await harmOf(own, trader, { lie, asked })))
  }
  await Promise.all(liars.map(tellAll))
  return found
}

// Many swaps, one after the other.
const TIMEOUT_MS = 120_000
const PATHS = ['/swap/quote', '/swap/delegation', '/swap/build-geo-op', '/swap/submit', '/swap/status']
const ERRORS = ['/swap/quote', '/swap/delegation', '/swap/build-geo-op', '/swap/submit']
const REFUSED = /submit .* (OPERATION_EXPIRED|INSUFFICIENT_BALANCE|INVALID_AUTHORIZATION)$/

test.each([
  ['/swap/quote', QuoteReply, paid],
  ['/swap/delegation', DelegationReply, paid],
  ['/swap/build-geo-op', BuildGeoOpReply, paid],
  ['/swap/build-solana-tx', BuildSolanaTxReply, fromSolana],
  ['/swap/submit', SubmitReply, paid],
  ['/swap/status', StatusReply, paid],
] as const)('every field that %s can have is covered', (path, { properties }, asked) => {
  expect(Object.keys(properties).filter((name) => !(name in honest(path, asked)))).toEqual([])
})

describe.each(traders)(
  'no lie of a service makes the %s sign more than the caller allowed',
  (name, trader) => {
    // All sign with the SDK, which is tested in full; for the others, only their additions are.
    const isBrief = !name.startsWith('SDK')
    const paths = isBrief ? ['/swap/quote', '/swap/tokens', '/swap/chains'] : PATHS
    const errors = errorLies(ERRORS).filter((lie) => !isBrief || REFUSED.test(lie.name))

    test('an honest service gets its signatures', async () => {
      liar.begin(undefined)

      expect(await trader(liar, { isExactOutput: false, times: 2 })).toBe(2)
      const total = 2n * paid.maxInput
      expect(findHarm(liar.handed(), liar.offers.offered(), paid, total)).toEqual([])
    })

    test.each(paths)(
      'each value of %s changed',
      async (path) => {
        expect(await harmOfAll(trader, leafLies(path, honest(path), { isBrief }))).toEqual([])
      },
      TIMEOUT_MS,
    )

    test.each([
      ['other ops under matching hashes', opLies().slice(isBrief ? -3 : 0)],
      ['swaps reported as ended while their signature can be used', statusLies()],
      ['refusals', errors],
    ])(
      '%s',
      async (_kind, lies) => {
        expect(lies).not.toEqual([])
        expect(await harmOfAll(trader, lies)).toEqual([])
      },
      TIMEOUT_MS,
    )

    test('delegates of an attacker', async () => {
      const lies = leafLies('/swap/delegation', honest('/swap/delegation'), { isBrief: true })

      expect(await harmOfAll(trader, lies)).toEqual([])
    })

    test(
      'prices of an exact output',
      async () => {
        const lies = leafLies('/swap/quote', honest('/swap/quote', bought)).filter(({ name }) =>
          /put is/.test(name),
        )

        expect(await harmOfAll(trader, lies, bought)).toEqual([])
      },
      TIMEOUT_MS,
    )
  },
)

describe('no lie of a service makes the SDK name an address that is not of the requested op', () => {
  const harmAt = async (lie: Lie | undefined): Promise<string[]> => {
    liar.begin(lie)
    const deposit = await openDeposit(liar)
    if (!deposit) return []
    const { op, origin: domain } = toOffered(deposit.operation)
    const isOwn = deposit.depositAddress === depositAddressOf(domain.escrow, hashGeoOp(domain, op))
    const harm = [
      ...opHarm({ hash: '0x', op, escrow: domain.escrow }, paid),
      ...(isOwn ? [] : ['the address is of another op']),
      ...(BigInt(deposit.amount) > paid.maxInput ? [`${deposit.amount} is asked for`] : []),
    ]
    return harm.map((each) => `${lie?.name}: ${each}`)
  }

  test('an honest service gets a deposit', async () => {
    liar.begin(undefined)

    expect(await openDeposit(liar)).toMatchObject({ amount: '10000000', token: evmRequest.inputToken })
    expect(await harmAt(undefined)).toEqual([])
  })

  test.each([
    ['each value of a quote changed', () => leafLies('/swap/quote', honest('/swap/quote'))],
    ['each value of a build changed', () => leafLies('/swap/build-geo-op', honest('/swap/build-geo-op'))],
    ['other ops under matching hashes', opLies],
  ])(
    '%s',
    async (_kind, lies) => {
      const found: string[] = []
      for (const lie of lies()) found.push(...(await harmAt(lie)))

      expect(found).toEqual([])
    },
    TIMEOUT_MS,
  )
})

describe('no lie of a service makes the SDK sign another Solana transaction than the requested one', () => {
  test('an honest service gets its signature', async () => {
    liar.begin(undefined)

    expect(await bySdkOnSolana(liar, { isExactOutput: false, times: 2 })).toBe(2)
    expect(findHarm(liar.handed(), [], fromSolana, 0n)).toEqual([])
  })

  test('other transactions', async () => {
    expect(await harmOfAll(bySdkOnSolana, await solanaLies(), fromSolana)).toEqual([])
  })

  test.each(['/swap/quote', '/swap/build-solana-tx'])(
    'each value of %s changed',
    async (path) => {
      const lies = leafLies(path, honest(path, fromSolana))

      expect(await harmOfAll(bySdkOnSolana, lies, fromSolana)).toEqual([])
    },
    TIMEOUT_MS,
  )

  test('a refused submission gets no second signature', async () => {
    const [gone] = errorLies(['/swap/submit-solana']).filter(({ name }) => name.includes('OPERATION_EXPIRED'))
    liar.begin(gone)

    await bySdkOnSolana(liar, { isExactOutput: false, times: 2 })

    expect(liar.handed().filter(({ path }) => path === '/swap/submit-solana')).toHaveLength(1)
  })
})
