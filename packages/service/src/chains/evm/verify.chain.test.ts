import { createKeys, deployContracts, EVM_CHAINS, startChain } from '@geoswap/devnet'
import { CONTRACT_CODE, geoAccountAbi, geoEscrowAbi, geoVaultAbi, planDeployment } from '@geoswap/protocol'
import {
  type Address,
  createPublicClient,
  custom,
  decodeFunctionData,
  encodeFunctionResult,
  erc20Abi,
  type Hex,
  type PublicClient,
  parseAbi,
  RpcRequestError,
  stringToHex,
} from 'viem'
import { afterAll, expect, test } from 'vitest'
import { keyOfSet } from '../../swap/attester-set.ts'
import { createEvmClient } from './client.ts'
import { findClosedCaps, verifyChain } from './verify.ts'

const [plan] = EVM_CHAINS
if (!plan) throw new Error('The local network has no EVM chain')
const { name, chainId } = plan
const node = await startChain({ name, chainId, blockMs: 60_000 })
afterAll(() => node.stop())
const keys = createKeys()
const { contracts, tokens, feeds } = await deployContracts({ ...plan, rpcUrl: node.rpcUrl, keys })
const client = createEvmClient({ urls: [node.rpcUrl] })

const NOBODY: Address = '0x0000000000000000000000000000000000000011'
const [treasury, members] = [keys.treasury.address, keys.attesters.map(({ address }) => address)]
const ours = { members, threshold: keys.threshold }
const expected: Parameters<typeof verifyChain>[1] = {
  ...{ chainId, name, contracts, treasury, attesters: [ours] },
  deliverers: keys.deliverers.map(({ address }) => address),
  senders: keys.relayers.map(({ address }) => address),
  tokens: tokens.map(({ address, symbol, decimals }) => ({ address, symbol, decimals })),
  feeds: feeds.map(({ address, asset }) => ({ address, description: `${asset} / USD` })),
}
const [token, feed] = [expected.tokens[0], expected.feeds[0]]
if (!token || !feed) throw new Error('The chain has no token and feed')

const abi = [
  ...[...geoEscrowAbi, ...geoVaultAbi, ...geoAccountAbi, ...erc20Abi],
  ...parseAbi(['function description() view returns (string)']),
]
/** By function or method, for some arguments. */
type Answers = Record<string, (args: readonly unknown[], at?: Address) => Hex | Error | undefined>

/** The chain by a node that answers some questions otherwise. */
function nodeWith(answers: Answers): PublicClient {
  const request = async (asked: { method: string; params: [{ data: Hex; to: Address }] }) => {
    const { data, to } = asked.params?.[0] ?? {}
    const call = asked.method === 'eth_call' ? decodeFunctionData({ abi, data }) : undefined
    const answer = answers[call?.functionName ?? asked.method]?.(call ? (call.args ?? []) : asked.params, to)
    if (answer instanceof Error) throw answer
    return answer ?? client.request(asked as never)
  }
  return createPublicClient({ transport: custom({ request }, { retryCount: 0 }), cacheTime: 0 })
}

const said = (functionName: string, result: unknown) =>
  encodeFunctionResult({ abi, functionName, result } as never)
const failing = (message: string, code = -32_005) =>
  new RpcRequestError({ body: {}, url: 'http://node', error: { code, message } })
const refused = failing('execution reverted', 3)

const only = (address: Address, answer: Hex | Error) => (_: unknown, at?: Address) =>
  at?.toLowerCase() === address.toLowerCase() ? answer : undefined
const always = (answer: Hex | Error) => () => answer

/** Without the chain's name. */
async function findingsOf(change: Partial<typeof expected>, answers: Answers = {}) {
  const { problems, warnings, closed } = await verifyChain(nodeWith(answers), { ...expected, ...change })
  const bare = (text: string) => text.replace(`${name}: `, '')
  return {
    problems: problems.map(bare),
    warnings: warnings.map(bare),
    closed: closed.map(({ token, why }) => ({ token, why: bare(why) })),
  }
}

/** Those of custody, of a chain whose tokens and feeds are as configured. */
async function problemsOf(change: Partial<typeof expected>, answers: Answers = {}): Promise<string[]> {
  const { problems, ...others } = await findingsOf(change, answers)
  expect(others).toEqual({ warnings: [], closed: [] })
  return problems
}

test('a chain that is as configured has no problem', async () => {
  expect(await verifyChain(client, expected)).toEqual({ problems: [], warnings: [], closed: [] })
  expect(await problemsOf({ treasury: undefined, tokens: [{ ...token, decimals: undefined }] })).toEqual([])
})

test.each<[string, Partial<typeof expected>, string[]]>([
  ['another chain', { chainId: 7 }, [`the node serves chain ${chainId}, not 7`]],
  [
    'an address without code',
    { contracts: { ...contracts, vault: NOBODY } },
    [`there is no vault contract at ${NOBODY}`],
  ],
  [
    'the code of another contract',
    { contracts: { ...contracts, vault: contracts.escrow } },
    [`the code at ${contracts.escrow} is not the vault contract of this version`],
  ],
  [
    'a sender with code',
    { senders: [...expected.senders, contracts.vault] },
    [`there is code at ${contracts.vault}, which sends transactions: remove its delegation`],
  ],
  [
    'another treasury',
    { treasury: NOBODY },
    [
      `the escrow's treasury is ${treasury}, not ${NOBODY}`,
      `the vault's treasury is ${treasury}, not ${NOBODY}`,
    ],
  ],
  [
    'a deliverer that the vault does not know',
    { deliverers: [NOBODY, ...expected.deliverers] },
    [`the vault does not accept deliveries from ${NOBODY}`],
  ],
  [
    'other attesters',
    { attesters: [{ members: [NOBODY], threshold: 1 }] },
    [`the escrow's attesters are ${keyOfSet(ours)}, not ${keyOfSet({ members: [NOBODY], threshold: 1 })}`],
  ],
])('a configuration with %s is reported', async (_, change, problems) => {
  expect(await problemsOf(change)).toEqual(problems)
})

test.each<[string, Partial<typeof expected>, string]>([
  [
    'address without a token',
    { tokens: [token, { ...token, address: NOBODY }] },
    `there is no token ${token.symbol} at ${NOBODY}`,
  ],
  [
    'token of another symbol',
    { tokens: [{ ...token, symbol: 'OLD' }] },
    `the token at ${token.address} has the symbol ${token.symbol}, not OLD`,
  ],
  [
    'token of other decimals',
    { tokens: [{ ...token, decimals: 5 }] },
    `${token.symbol} at ${token.address} has ${token.decimals} decimals, not 5`,
  ],
])('an %s is closed, and is no problem of the chain', async (_, change, why) => {
  const closed = change.tokens?.slice(-1).map(({ address }) => ({ token: address, why }))

  expect(await findingsOf(change)).toEqual({ problems: [], warnings: [], closed })
})

test('a symbol of any length and characters is quoted in a bounded way', async () => {
  const symbol = always(said('symbol', `\u202e${'A'.repeat(10_000)}`))

  const { closed } = await findingsOf({ tokens: [token] }, { symbol })

  const why = `the token at ${token.address} has the symbol ?${'A'.repeat(39)}…, not ${token.symbol}`
  expect(closed).toEqual([{ token: token.address, why }])
})

test.each<[string, Partial<typeof expected>, string]>([
  [
    'address without a feed',
    { feeds: [feed, { ...feed, address: NOBODY }] },
    `there is no price feed at ${NOBODY}: it gives no price`,
  ],
  [
    'feed of another price',
    { feeds: [{ ...feed, description: 'EUR / USD' }] },
    `the feed at ${feed.address} is of ${feed.description}, not of EUR / USD: it gives no price`,
  ],
])('an %s only warns', async (_, change, warning) => {
  expect(await findingsOf(change)).toEqual({ problems: [], warnings: [warning], closed: [] })
})

test.each<[string, Answers, string[]]>([
  [
    'an escrow of another account',
    { ACCOUNT: always(said('ACCOUNT', NOBODY)) },
    [`the escrow's account is ${NOBODY}, not ${contracts.account}`],
  ],
  [
    'an escrow of another vault',
    { VAULT: always(said('VAULT', NOBODY)) },
    [`the escrow's vault is ${NOBODY}, not ${contracts.vault}`],
  ],
  [
    'an account of another escrow',
    { ESCROW: only(contracts.account, said('ESCROW', NOBODY)) },
    [`the account's escrow is ${NOBODY}, not ${contracts.escrow}`],
  ],
])('a chain with %s has these problems', async (_, answers, problems) => {
  expect(await problemsOf({ feeds: [feed] }, answers)).toEqual(problems)
})

test.each<[string, Answers, string[]]>([
  [
    'a feed of unusual decimals',
    { decimals: only(feed.address, said('decimals', 6)) },
    [`the feed at ${feed.address} has 6 decimals`],
  ],
  ['a feed of 18 decimals', { decimals: only(feed.address, said('decimals', 18)) }, []],
  [
    'a feed without decimals',
    { decimals: only(feed.address, refused) },
    [`there is no price feed at ${feed.address}`],
  ],
  [
    'a feed without a description',
    { description: only(feed.address, refused) },
    [`there is no price feed at ${feed.address}`],
  ],
  ['a token whose symbol is not text', { symbol: always(stringToHex('MKR', { size: 32 })) }, []],
  ['a token without a symbol', { symbol: always(refused) }, []],
])('a chain with %s has these warnings, or none', async (_, answers, warnings) => {
  expect(await findingsOf({ feeds: [feed] }, answers)).toEqual({
    problems: [],
    warnings: warnings.map((text) => `${text}: it gives no price`),
    closed: [],
  })
})

test.each(['symbol', 'decimals', 'description'])(
  'a node that fails when it is asked for the %s is an error, and no problem of the chain',
  async (question) => {
    const failed = verifyChain(nodeWith({ [question]: always(failing('too many requests')) }), expected)

    await expect(failed).rejects.toThrow('too many requests')
  },
)

const other = { members: [NOBODY], threshold: 1 }

test('attesters that are not configured are reported, with the day from which they decide', async () => {
  const now = Number((await client.getBlock()).timestamp)
  const sets = [
    { ...ours, since: 0 },
    { ...other, since: now },
    { ...other, since: now + 1 },
  ]
  const answer = said(
    'attestersFrom',
    sets.map((set) => ({ ...set, threshold: BigInt(set.threshold), since: BigInt(set.since) })),
  )
  // The first set of all is asked for as well.
  const attestersFrom = ([from]: readonly unknown[]) => (from === 0n ? undefined : answer)

  const problems = await problemsOf({}, { attestersFrom })

  const day = new Date((now + 1) * 1_000).toISOString()
  expect(problems).toEqual([
    `the escrow's attesters are ${keyOfSet(other)}, not ${keyOfSet(ours)}`,
    `the escrow's attesters for refund deadlines from ${day} on are ${keyOfSet(other)}, not ${keyOfSet(ours)}`,
  ])
})

test('an escrow without attesters is reported', async () => {
  expect(await problemsOf({}, { attestersFrom: always(said('attestersFrom', [])) })).toEqual([
    'the escrow has no attesters',
  ])
})

test('contracts that were created for other attesters are reported', async () => {
  const first = [{ members: [NOBODY], threshold: 1n, since: 0n }]
  const answer = said('attestersFrom', first)
  const planned = planDeployment({ treasury, attesters: [NOBODY], threshold: 1 }).contracts

  const problems = await problemsOf({}, { attestersFrom: ([from]) => (from === 0n ? answer : undefined) })

  const moved = (['account', 'escrow', 'vault'] as const).filter((role) => planned[role] !== contracts[role])
  expect(moved).toEqual(['account', 'escrow', 'vault'])
  expect(problems).toEqual(
    moved.map(
      (role) =>
        `the ${role} at ${contracts[role]} was not created by this version, which has ${planned[role]}`,
    ),
  )
})

test.each(['account', 'escrow', 'vault'] as const)(
  'a foreign value in the code of the %s is reported, be it the first or the last',
  async (role) => {
    const address = contracts[role]
    const code = (await client.getCode({ address })) ?? '0x'
    const { immutables } = CONTRACT_CODE[role]
    for (const start of new Set([...immutables.slice(0, 1), ...immutables.slice(-1)])) {
      const forged = `${code.slice(0, 2 + start * 2)}${'77'.repeat(32)}${code.slice(66 + start * 2)}` as Hex
      const eth_getCode = ([asked]: readonly unknown[]) => (asked === address ? forged : undefined)

      expect(await problemsOf({ tokens: [], feeds: [] }, { eth_getCode })).toEqual([
        `the ${role} at ${address} has a value in its code that is not of this deployment`,
      ])
    }
  },
)

test('tokens whose caps are open can move, and each closed cap is named', async () => {
  const capped = { contracts, tokens: [token] }
  const closedBy = (answers: Answers) => findClosedCaps(nodeWith(answers), capped)
  const { symbol } = token

  expect(await findClosedCaps(client, capped)).toEqual([])
  expect(await findClosedCaps(client, { contracts, tokens: [{ address: NOBODY, symbol: 'NEW' }] })).toEqual([
    'the vault pays no NEW: its cap is 0',
    'no NEW can be claimed from the escrow: its claim cap is 0',
    'no NEW is refunded before its refund deadline: its refund cap is 0',
  ])
  expect(await closedBy({ claimCaps: always(said('claimCaps', [0n, 0n])) })).toEqual([
    `no ${symbol} can be claimed from the escrow: its claim cap is 0`,
  ])
  const attestedRefundsStopped = always(said('attestedRefundsStopped', true))
  expect(await closedBy({ attestedRefundsStopped })).toEqual([
    'the treasury has stopped attested refunds: inputs go back after their refund deadline',
  ])
})
