import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stub } from '@geoswap/protocol/test/stub'
import type { Client, QuoteReply, SwapLimits, SwapOptions } from '@geoswap/sdk'
import { type Context, createInterrupts } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { addressOf, deriveKey } from '@geoswap/wallet/keys'
import { type Journal, openJournal } from '@geoswap/wallet/store/journal'
import { startTestNodes } from '@geoswap/wallet/test/nodes'
import { type ChosenWallet, walletId } from '@geoswap/wallet/wallets'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createConfirmations } from './confirmations.ts'
import { executeSwap } from './execute.ts'
import { attendedBy, type Call, type McpContext } from './mcp-context.ts'
import { quoteSwap } from './read-tools.ts'
import { type GivenRules, toRules } from './rules.ts'
import type { ExecuteInput } from './schemas.ts'
import { openSpending } from './spending.ts'

const key = deriveKey('evm', 'execute')
const wallet: ChosenWallet = { name: 'bot', family: 'evm', address: await addressOf(key) }
const native = { symbol: 'ETH', decimals: 18 }
const chains = ['alpha', 'beta'].map((name, index) => ({
  name,
  chainId: 31_337 + index,
  family: 'evm',
  native,
}))
const tokens = chains.map(({ chainId }) => ({
  chainId,
  symbol: 'USDC',
  decimals: 6,
  address: `0x${`${chainId % 10}`.repeat(40)}`,
}))

// Nodes that report the tokens' symbols and decimals.
let nodes: Awaited<ReturnType<typeof startTestNodes>>
beforeAll(async () => {
  nodes = await startTestNodes(Object.fromEntries(tokens.map(({ address }) => [address, 'USDC'])))
})
afterAll(() => nodes.stop())

let folder: string
let journal: Journal
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'geoswap-execute-'))
  journal = openJournal(join(folder, 'journal'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** An offer of 9.9 USDC for 10, with 9.8 guaranteed. */
const offer: QuoteReply = {
  geoQuoteToken: 'quote',
  origin: 'evm',
  feeBps: 10,
  etaSeconds: 3,
  fees: [],
  priceImpactBps: -10,
  input: '10000000',
  output: '9900000',
  minOutput: '9800000',
  inputUsd: '10.00',
  outputUsd: '9.90',
  expiresAt: '2026-01-02T03:04:35.678Z',
}

const amounts = { input: offer.input, quotedOutput: offer.output, minOutput: offer.minOutput }

/** Fields that differ from the offer. */
type Service = Partial<
  Record<'shown' | 'signed', { [Field in keyof QuoteReply]?: QuoteReply[Field] | undefined }>
>

/**
 * A service that shows one quote and has another signed a moment later. Records the limits, and whether a
 * signature was requested.
 */
function serviceOf({ shown, signed }: Service) {
  const signings: SwapLimits[] = []
  const client = {
    chains: async () => ({ chains }),
    tokens: async () => ({ tokens }),
    quote: async () => ({ ...offer, ...shown }),
    async swap(
      _request: unknown,
      _signer: unknown,
      { confirm, minOutput, maxInput, onProgress }: SwapOptions,
    ) {
      await confirm?.({ ...offer, ...signed } as QuoteReply)
      signings.push({ ...(minOutput && { minOutput }), ...(maxInput && { maxInput }) })
      onProgress?.({
        step: 'submitting',
        submission: { geoOpToken: 'op', signature: '0x' },
        lockableUntil: 0,
      })
      onProgress?.({ step: 'submitted', swapId: 'swp_1' })
      return { swapId: 'swp_1', status: 'settled', substatus: 'delivered', amounts }
    },
  }
  return { client: stub<Client>(client), signings }
}

/** A server with limits of 50 USD a swap and 60 USD a day, and confirmation above 15 USD. */
function openTestContext(given: GivenRules = {}, lines: string[] = []): McpContext {
  const running = new Set<string>()
  const limits = { maxSwapUsd: '50', maxDayUsd: '60', confirmAboveUsd: '15', ...given }
  const rpcUrls = Object.fromEntries(chains.map(({ chainId }) => [chainId, nodes.urlOf(chainId)]))
  const settings = { service: { url: 'http://service', apiKey: 'key' }, rpcUrls, contracts: {} }
  const terminal = { isInteractive: false, note: () => {}, progress: () => {} }
  const context = {
    settings,
    terminal,
    journal,
    unlocked: new Map([[walletId(wallet), key]]),
    isAttended: attendedBy(running),
  }
  return {
    context: stub<Context>(context),
    wallets: [wallet],
    isReadOnly: false,
    log: (line) => lines.push(line),
    rules: toRules(limits, [wallet.address], () => undefined),
    spending: openSpending(join(folder, 'spending'), journal),
    confirmations: createConfirmations(),
    submitting: new Set(),
    unheard: new Map(),
    running,
  }
}

const order: ExecuteInput = { from: 'alpha:USDC', to: 'beta:USDC', amount: '10' }

function run(mcp: McpContext, { client }: { client: Client }, input = order, ask?: Call['ask']) {
  const interrupts = createInterrupts(() => {})
  const context = { ...mcp.context, interrupts, seen: {} }
  const call: Call = { signal: interrupts.signal, report: () => {}, ask }
  return executeSwap(mcp, { context, client, submitted: Promise.resolve() }, input, call)
}

test('a swap within the limits is signed once and its value is counted', async () => {
  const [mcp, service] = [openTestContext(), serviceOf({})]

  expect(await run(mcp, service)).toMatchObject({ outcome: 'settled', swap: { swapId: 'swp_1' } })
  expect(service.signings).toHaveLength(1)
  expect(mcp.spending.spentCents()).toBe(1_000n)
})

const dear = { inputUsd: '50.01' }

test.each<[string, Service, string]>([
  ['the shown quote is above the limit of a swap', { shown: dear }, 'SWAP_CAP'],
  ['the quote to be signed is above the limit of a swap', { signed: dear }, 'NEEDS_CONFIRMATION'],
  ['the quote to be signed needs a confirmation', { signed: { inputUsd: '15.01' } }, 'NEEDS_CONFIRMATION'],
  ['the quote to be signed has no known value', { signed: { inputUsd: undefined } }, 'NEEDS_CONFIRMATION'],
  ['the shown quote has no known value', { shown: { inputUsd: undefined } }, 'VALUE_UNKNOWN'],
  ['the quote to be signed loses much value', { signed: { priceImpactBps: -500 } }, 'NEEDS_CONFIRMATION'],
])('nothing is signed and the order is free again if %s', async (_, quotes, code) => {
  const [mcp, service] = [openTestContext(), serviceOf(quotes)]

  await expect(run(mcp, service)).rejects.toMatchObject({ code })
  expect(service.signings).toEqual([])
  expect(mcp.spending.spentCents()).toBe(0n)
  expect(await run(mcp, serviceOf({}))).toMatchObject({ outcome: 'settled' })
})

test('the limits apply to the signed quote, also after a confirmation', async () => {
  const [mcp, service] = [openTestContext(), serviceOf({ shown: { inputUsd: '16.00' }, signed: dear })]

  await expect(run(mcp, service, order, async () => true)).rejects.toMatchObject({ code: 'SWAP_CAP' })
  expect(service.signings).toEqual([])
})

test.each(['before it is asked for', 'before it is signed'])(
  'the limit of a day includes other spending %s',
  async (moment) => {
    const [mcp, service] = [openTestContext(), serviceOf({})]
    const spend = () => mcp.spending.add('att_other', 5_001n, () => {})
    const { swap } = service.client
    if (moment === 'before it is asked for') spend()
    service.client.swap = (...args) => {
      spend()
      return swap(...args)
    }

    await expect(run(mcp, service)).rejects.toMatchObject({ code: 'DAY_CAP' })
    expect(service.signings).toEqual([])
  },
)

test('a confirmed swap is not confirmed again, also if it loses much or its value grows', async () => {
  const quotes = { shown: { inputUsd: '16.00' }, signed: { inputUsd: '17.00', priceImpactBps: -900 } }
  const [mcp, service] = [openTestContext(), serviceOf(quotes)]
  const questions: string[] = []

  await run(mcp, service, order, async (question) => questions.push(question) > 0)

  expect(questions).toHaveLength(1)
  expect(questions[0]).toContain('At most 10 USDC on alpha is paid for at least 9.702 USDC on beta.')
  expect(service.signings).toHaveLength(1)
})

test('a swap that the user declines is not signed', async () => {
  const [mcp, service] = [openTestContext(), serviceOf({ shown: { inputUsd: '16.00' } })]

  await expect(run(mcp, service, order, async () => false)).rejects.toMatchObject({ code: 'DECLINED' })
  expect(service.signings).toEqual([])
})

const asks = { shown: { inputUsd: '16.00' }, signed: { inputUsd: '16.00' } }

// Shown are 10 USDC for at least 9.8. The side that the order leaves open may move by one percent.
test.each<[string, Partial<ExecuteInput>, SwapLimits]>([
  ['nothing', {}, { maxInput: 10_000_000n, minOutput: 9_702_000n }],
  ['less than was shown', { minReceive: '9' }, { maxInput: 10_000_000n, minOutput: 9_702_000n }],
  ['more than was shown', { minReceive: '9.75' }, { maxInput: 10_000_000n, minOutput: 9_750_000n }],
  ['to pay more than was shown', { maxPay: '11' }, { maxInput: 10_000_000n, minOutput: 9_702_000n }],
  ['to pay less than was shown', { maxPay: '9.5' }, { maxInput: 9_500_000n, minOutput: 9_702_000n }],
  [
    'an exact output',
    { amount: undefined, receive: '9.8' },
    { maxInput: 10_100_000n, minOutput: 9_800_000n },
  ],
])('a confirmation loosens no limit: the order says %s', async (_, words, limits) => {
  const [mcp, service] = [openTestContext(), serviceOf(asks)]

  await run(mcp, service, { ...order, ...words } as ExecuteInput, async () => true)

  expect(service.signings).toEqual([limits])
})

test('without a confirmation the limits of the order apply to the signature', async () => {
  const [mcp, service] = [openTestContext(), serviceOf({})]

  await run(mcp, service, { ...order, minReceive: '9', maxPay: '11' })

  expect(service.signings).toEqual([{ minOutput: 9_000_000n, maxInput: 11_000_000n }])
})

type Asked = { outcome: string; confirmation: { confirmationToken: string } }

test('a client that cannot ask its user gets a token for this order and one use', async () => {
  const [mcp, service] = [openTestContext(), serviceOf(asks)]
  const tokenOf = async (input = order) =>
    ((await run(mcp, service, input)) as Asked).confirmation.confirmationToken
  const withToken = (confirmationToken: string, change: Partial<ExecuteInput> = {}) =>
    run(mcp, service, { ...order, ...change, confirmationToken })

  for (const change of [{ amount: '11' }, { slippageBps: 90 }, { minReceive: '1' }, { maxPay: '12' }])
    await expect(withToken(await tokenOf(), change)).rejects.toMatchObject({ code: 'CONFIRMATION_INVALID' })
  expect(service.signings).toEqual([])

  const token = await tokenOf()
  expect(await withToken(token)).toMatchObject({ outcome: 'settled' })
  expect(service.signings).toEqual([{ maxInput: 10_000_000n, minOutput: 9_702_000n }])
  await expect(withToken(token)).rejects.toMatchObject({ code: 'CONFIRMATION_INVALID' })

  const narrow = await tokenOf({ ...order, slippageBps: 80 })
  await expect(withToken(narrow, { slippageBps: 90 })).rejects.toMatchObject({ code: 'CONFIRMATION_INVALID' })
})

test('an order is not signed again while an earlier signature of it can be used', async () => {
  const [mcp, service] = [openTestContext(), serviceOf({})]
  service.client.swap = async (_request, _signer, { onProgress } = {}) => {
    const submission = { geoOpToken: 'op', signature: '0x' } as const
    onProgress?.({ step: 'submitting', submission, lockableUntil: 2 ** 40 })
    throw new UserError('NOT_SUBMITTED', 'Refused.')
  }
  await expect(run(mcp, service)).rejects.toMatchObject({ code: 'NOT_SUBMITTED' })

  const later = serviceOf({})
  await expect(run(mcp, later)).rejects.toMatchObject({ code: 'SIGNATURE_OPEN' })
  expect(later.signings).toEqual([])
})

test('the quote that is signed is noted in whole tokens', async () => {
  const [mcp, notes] = [openTestContext(), [] as string[]]
  const terminal = { ...mcp.context.terminal, note: (line: string) => void notes.push(line) }

  await run({ ...mcp, context: { ...mcp.context, terminal } }, serviceOf({}))

  expect(notes.filter((line) => line.startsWith('to be signed: 10 USDC '))).toHaveLength(1)
})

test('a recipient that is not allowed is refused before the service is called', async () => {
  const [mcp, service] = [openTestContext(), serviceOf({})]
  const recipient = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

  await expect(run(mcp, service, { ...order, recipient })).rejects.toMatchObject({
    code: 'RECIPIENT_NOT_ALLOWED',
  })
})

test('an order from a chain without a node is refused, and nothing is begun', async () => {
  const [mcp, service] = [openTestContext(), serviceOf({})]
  const { settings } = mcp.context
  const context = { ...mcp.context, settings: { ...settings, rpcUrls: {} } }

  await expect(run({ ...mcp, context }, service)).rejects.toMatchObject({ code: 'NO_NODE' })
  expect([service.signings, journal.list()]).toEqual([[], []])
})

test('an unanswered submission is sent again unchanged, and nothing more is signed or counted', async () => {
  const [mcp, service] = [openTestContext(), serviceOf({})]
  const { swap } = service.client
  service.client.swap = async (request, signer, options = {}) => {
    const { onProgress } = options
    const lose: typeof onProgress = (progress) => {
      onProgress?.(progress)
      if (progress.step === 'submitting') throw new Error('lost')
    }
    return swap(request, signer, { ...options, onProgress: lose })
  }
  await expect(run(mcp, service)).rejects.toThrow('lost')

  const sent: unknown[] = []
  const later = serviceOf({})
  later.client.submit = async (submission) => {
    sent.push(submission)
    return { swapId: 'swp_1', status: 'pending' }
  }
  later.client.waitForSwap = async () =>
    ({ swapId: 'swp_1', status: 'settled', substatus: 'delivered', amounts }) as never
  expect(await run(mcp, later)).toMatchObject({ outcome: 'settled' })

  expect(sent).toEqual([{ geoOpToken: 'op', signature: '0x' }])
  expect(later.signings).toEqual([])
  expect(mcp.spending.spentCents()).toBe(1_000n)
})

test('a signed swap is logged with its value', async () => {
  const lines: string[] = []
  await run(openTestContext({}, lines), serviceOf({}))
  const unknown = { shown: { inputUsd: undefined }, signed: { inputUsd: undefined } }
  await run(
    openTestContext({ allowUnknownValue: 'true' }, lines),
    serviceOf(unknown),
    order,
    async () => true,
  )

  expect(
    lines.filter((line) => line.startsWith('att_')).map((line) => line.slice('att_'.length + 17)),
  ).toEqual([
    `alpha:USDC beta:USDC to ${wallet.address} 10.00 USD`,
    `alpha:USDC beta:USDC to ${wallet.address} value not known`,
  ])
})

const quote = (mcp: McpContext, service: Service, input: Partial<ExecuteInput> = {}) => {
  const context = { ...mcp.context, interrupts: createInterrupts(() => {}), seen: {} }
  const opened = { context, client: serviceOf(service).client, submitted: Promise.resolve() }
  return quoteSwap(mcp, opened, { ...order, ...input })
}

const stranger = `0x${'9'.repeat(40)}`

test.each<[string, Service, Partial<ExecuteInput>, string | undefined]>([
  ['would be performed', {}, {}, undefined],
  ['is above the limit of a swap', { shown: dear }, {}, 'SWAP_CAP'],
  ['has no known value', { shown: { inputUsd: undefined } }, {}, 'VALUE_UNKNOWN'],
  ['pays somebody who is not allowed', {}, { recipient: stranger }, 'RECIPIENT_NOT_ALLOWED'],
])('a quote that %s says so', async (_, service, input, refusal) => {
  const quoted = await quote(openTestContext(), service, input)

  expect(quoted.allowed).toBe(refusal === undefined)
  expect('refusal' in quoted ? quoted.refusal : undefined).toBe(refusal)
})

test('a quote of a server that only reads is not performed', async () => {
  const quoted = await quote({ ...openTestContext(), isReadOnly: true }, {})

  expect(quoted.allowed).toBe(false)
  expect(quoted.refusal).toBeUndefined()
})

test('a quote names why the user would be asked', async () => {
  expect((await quote(openTestContext(), {})).confirmationReasons).toEqual([])
  expect((await quote(openTestContext(), { shown: { inputUsd: '15.01' } })).confirmationReasons).toHaveLength(
    1,
  )
})
