import { mnemonicToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { describeProblem, parseNetwork, TO_FILL_IN } from './network-file.ts'

const RELAYER = '0x1000000000000000000000000000000000000001'
const OTHER_RELAYER = '0x1000000000000000000000000000000000000002'
const VAULT = '0x5000000000000000000000000000000000000003'
const AUTHORIZER = '0x1100000000000000000000000000000000000001'
const DELIVERER = '0x2000000000000000000000000000000000000001'

const PYTH = `{ "kind": "pyth", "feedId": "0x${'aa'.repeat(32)}", "maxAgeSeconds": 9 }`
const DEEP = '"fast": [{ "depth": 451, "premiumCentiBps": 2 }]'
const SECOND_ETH = `{ "name": "ETH", "sources": [${PYTH}] }`

const setting = (name: string) => `\${${name}}`

/** Replaces a part that occurs exactly once, so that a case cannot silently change nothing. */
function change(from: string, to: string): string {
  if (NETWORK_TEXT.split(from).length !== 2) throw new Error(`does not occur exactly once: ${from}`)
  return NETWORK_TEXT.replace(from, () => to)
}

/** The line on which a part of a text begins. */
function lineOf(text: string, part: string): number {
  return text.slice(0, text.indexOf(part)).split('\n').length
}

test('a complete configuration has no problem', () => {
  expect(parseNetwork(NETWORK_TEXT).problems).toEqual([])
})

/**
 * The replaced text and its replacement; path and message of the problem; and the text at its line, if not the
 * replacement.
 */
type Case = [from: string, to: string, path: string, message: string, at?: string]

const notJson: Case[] = [
  ['"network": "test",', '"network": "test"', '', 'comma expected', '"relayers"'],
  ['"name": "base",', '"name": base,', '', 'invalid symbol'],
  ['"blockMs": 400,', 'blockMs: 400,', '', 'invalid symbol'],
  ['"hard": 450', '"hard": 450,', '', 'property name expected', '},\n      "blockMs": 2000'],
  ['"name": "base",', '"name": "base", "name": "other",', '/chains/0/name', 'is repeated'],
]

const misshapen: Case[] = [
  ['"chainId": 9001,\n', '"chainId": 1e300,\n', '/chains/1/chainId', 'must be <= 9007199254740991'],
  ['"blockMs": 400', '"blockMs": 1e12', '/chains/1/blockMs', 'must be <= 2147483647'],
  ['"leaseMs": 6000', '"quoteTtlMs": 1e16', '/quoteTtlMs', 'must be <= 3600000'],
  ['"leaseMs": 6000', '"eventDays": 3000000000', '/eventDays', 'must be <= 36500'],
  ['"exposureCapUsd": 25000', '"exposureCapUsd": 1e300', '/chains/0/exposureCapUsd', 'must be <= 1000000000'],
  ['"network": "test",', '"network": "Test Net",', '/network', 'must match pattern'],
  [
    '"family": "evm"',
    '"family": "cosmos"',
    '/chains/0',
    'unknown kind or family',
    '{\n      "chainId": 8453',
  ],
  [
    '"kind": "inventory"',
    '"kind": "stock"',
    '/venues/0',
    'unknown kind or family',
    '{\n      "kind": "stock"',
  ],
  ['"exposureCapUsd"', '"exposureCap"', '/chains/0/exposureCap', 'unknown field'],
  ['"blockMs": 2000,', '', '/chains/0', 'blockMs is missing', '{\n      "chainId": 8453'],
  ['"blockMs": 400,', '"blockMs": 1.5,', '/chains/1/blockMs', 'must be integer'],
  ['"chainId": 9001,\n', '"chainId": "9001",\n', '/chains/1/chainId', 'must be integer'],
  ['https://two.base', 'wss://two.base', '/chains/0/rpcUrls/1', 'must match pattern'],
  ['["https://two.solana.example"]', '[]', '/chains/1/attesterRpcUrls', 'fewer than 1 items'],
  ['"exposureCapUsd": 25000', '"exposureCapUsd": -1', '/chains/0/exposureCapUsd', 'must be >= 0'],
  ['"feeCentiBps": 1250', '"feeCentiBps": 200000', '/feeCentiBps', 'must be <= 100000'],
  ['"maxDeviationBps": 200', '"maxDeviationBps": 20000', '/assets/0/maxDeviationBps', 'must be <= 9999'],
  ['"0x5000000000000000000000000000000000000003"', '"0x5"', '/chains/0/contracts/vault', 'must match'],
]

const unfit: Case[] = [
  ['"exposureCapUsd": 25000', '"exposureCapUsd": 9, "fastCapUsd": 8', '/chains/0/fastCapUsd', 'at least'],
  ['"settle": 3', `"settle": 3, ${DEEP}`, '/chains/0/finality/fast/0/depth', 'must not be above hard'],
  ['"chainId": 9001,\n', '"chainId": 8453,\n', '/chains/1/chainId', '8453 is repeated'],
  ['"name": "solana"', '"name": "base"', '/chains/1/name', 'base is repeated'],
  ['"symbol": "WETH"', '"symbol": "USDC"', '/chains/0/tokens/1/symbol', 'USDC is repeated'],
  ['"SOL" },\n', '"LUNA" },\n', '/chains/1/native/asset', 'LUNA is not one of the assets'],
  ['913", "asset": "USDC"', '913", "asset": "USDT"', '/chains/0/tokens/0/asset', 'USDT is not one of'],
  ['two.base.example', 'one.base.example', '/chains/0/rpcUrls/1', 'one.base.example is repeated'],
  ['two.base.example', 'one.base.example/', '/chains/0/rpcUrls/1', 'one.base.example/ is repeated'],
  ['two.base.example', 'ONE.base.example:443', '/chains/0/rpcUrls/1', 'is repeated'],
  ['"https://two.base.example"', '"http://"', '/chains/0/rpcUrls/1', 'is not a URL'],
  ['two.base.example', 'my node/', '/chains/0/rpcUrls/1', 'is not a URL'],
  ['two.base.example', `${setting('HOST')} x/`, '/chains/0/rpcUrls/1', 'is not a URL'],
  ['two.solana.example', 'h:99999', '/chains/1/attesterRpcUrls/0', 'is not a URL'],
  ['hermes.example', 'h:99999', '/pyth/url', 'is not a URL'],
  ['"settle": 3', '"settle": 451', '/chains/0/finality/settle', 'must not be above hard (450)'],
  ['"depth": 4', '"depth": 500', '/chains/0/finality/accept/2/depth', 'must not be above hard (450)'],
  [
    '"depth": 4',
    '"depth": 1',
    '/chains/0/finality/accept/2/depth',
    'must not be below that of the previous tier',
  ],
  [
    '"belowUsd": 1000',
    '"belowUsd": 100',
    '/chains/0/finality/accept/1/belowUsd',
    'must be above that of the previous tier',
  ],
  ['"belowUsd": 1000, ', '', '/chains/0/finality/accept/1', 'needs belowUsd'],
  [', { "depth": 4 }', '', '/chains/0/finality/accept/1', 'must have no belowUsd'],
  ['"hardSeconds": 2400', '"hardSeconds": 60', '/chains/0/finality/hardSeconds', 'the time of hard blocks'],
  ['"maxHeadAgeMs": 20000', '"maxHeadAgeMs": 3000', '/chains/0/maxHeadAgeMs', 'at least twice blockMs'],
  ['"cap": "1000000"', '"cap": "10"', '/chains/1/priorityPrice/cap', 'must not be below floor'],
  ['"minSources": 1', '"minSources": 3', '/assets/1/minSources', 'requires 3 sources but has 1'],
  [
    '  "pyth": { "url": "https://hermes.example" },\n',
    '',
    '/assets/2/sources/0',
    'pyth.url is not set',
    '{ "kind": "pyth", "feedId": "0xef',
  ],
  [
    '"chainId": 8453, "maxAgeSeconds": 1500',
    '"chainId": 1, "maxAgeSeconds": 1500',
    '/assets/0/sources/0',
    'a feed on 1',
    '{\n          "kind": "chainlink", "chainId": 1',
  ],
  [
    '    {\n      "name": "SOL"',
    `    ${SECOND_ETH},\n    {\n      "name": "SOL"`,
    '/assets/2',
    'asset ETH is listed twice',
  ],
  [
    'v3",\n      "chainId": 8453',
    'v3",\n      "chainId": 9001',
    '/venues/1/chainId',
    'no EVM chain 9001 is configured',
    '"chainId": 9001,\n      "quoter"',
  ],
  ['"fee": 500', '"fee": 1000000', '/venues/1/pools/0/fee', 'must be below 1000000'],
  ['["ETH", "USDC"]', '["ETH", "DAI"]', '/venues/0/pairs/0/assets', 'DAI is not one of the assets'],
  [
    '"chainId": 8453, "asset"',
    '"chainId": 1, "asset"',
    '/venues/0/limits/0/chainId',
    'no chain 1 is configured',
  ],
  ['"percent": 25', '"percent": 5', '/discount/tiers', 'each tier must require more', '"tiers"'],
  ['"cutOffSeconds": 60', '"cutOffSeconds": 400', '/deadlines/cutOffSeconds', 'at most half of fillSeconds'],
  [
    '"claimInclusionSeconds": 300',
    '"claimInclusionSeconds": 5',
    '/deadlines/claimInclusionSeconds',
    'three blocks',
  ],
  ['"leaseMs": 6000', '"leaseMs": 90000', '/leaseMs', 'must be below lockInclusionSeconds'],
  ['"leaseMs": 6000', '"leaseMs": 60000', '/leaseMs', 'must be below lockInclusionSeconds'],
  ['"leaseMs": 6000', '"leaseMs": 1', '/leaseMs', 'must be at least 200'],
  [
    '"fillSeconds": 600',
    '"fillSeconds": 604800',
    '/deadlines',
    'the escrow accepts seven days',
    '"deadlines"',
  ],
  [
    '"hardSeconds": 2400',
    '"hardSeconds": 300000',
    '/chains/0/finality/hardSeconds',
    'the escrow accepts seven days',
  ],
  ['two.base.example', `a.example/${setting('key')}`, '/chains/0/rpcUrls/1', 'the name of a setting'],
  ['hermes.example', `hermes.example/${setting('KEY')}`, '/pyth/url', 'settings are not replaced here'],
  [
    '"leaseMs": 6000',
    `"web": { "rpcUrls": { "8453": "https://x.example/${setting('KEY')}" } }`,
    '/web/rpcUrls/8453',
    'no key',
  ],
  [
    '"leaseMs": 6000',
    '"web": { "rpcUrls": { "1": "https://x.example" } }',
    '/web/rpcUrls/1',
    'no chain 1 is configured',
  ],
  [
    '"leaseMs": 6000',
    '"web": { "txUrls": { "8453": "https://x.example/tx/" } }',
    '/web/txUrls/8453',
    'has no {hash}',
  ],
  [
    '"leaseMs": 6000',
    '"corsOrigins": ["https://app.example", "https://app.example/"]',
    '/corsOrigins/1',
    'is not an origin',
  ],
  [
    '"name": "solana"',
    '"name": "solana", "testnet": true',
    '/chains/0',
    'is not a test network',
    '{\n      "chainId": 8453',
  ],
]

const RETIRING = '"treasury": "0x4000000000000000000000000000000000000001"'
const VAULT_ON_SOLANA = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin'
const ANVIL = mnemonicToAccount(`${'test '.repeat(11)}junk`, { addressIndex: 9 }).address
const wrongAddresses: Case[] = [
  [
    '"USDC", "address": "0x833589f',
    '"USDC", "address": "0x833589F',
    '/chains/0/tokens/0/address',
    'wrong checksum',
  ],
  ['0x71041ddd', '0x71041DDD', '/assets/0/sources/0/address', 'wrong checksum'],
  ['EPjFWdd5Aufq', 'EPjF', '/chains/1/tokens/0/address', 'is not a 32-byte address'],
  [
    '0x3000000000000000000000000000000000000001',
    `0x${'0'.repeat(40)}`,
    '/attesters/members/0',
    'zero address',
  ],
  [OTHER_RELAYER, ANVIL, '/relayers/1', 'its key is published'],
  [
    '0x3000000000000000000000000000000000000001',
    ANVIL.toLowerCase(),
    '/attesters/members/0',
    'its key is published',
  ],
  ['0x4000000000000000000000000000000000000001', ANVIL, '/treasury', 'its key is published'],
  [
    '0x5000000000000000000000000000000000000001',
    '0x0000000000000000000000000000000000001010',
    '/chains/0/contracts/account',
    'is reserved by the chain',
  ],
  [AUTHORIZER, RELAYER, '/authorizationRelayers/0', 'is already a relayer'],
  [
    DELIVERER,
    AUTHORIZER,
    '/deliverers/0',
    'is already a relayer of authorizations, and cannot be a deliverer',
  ],
  [
    RETIRING,
    `"retiring": ["${AUTHORIZER}"], ${RETIRING}`,
    '/retiring',
    'at least one relayer of authorizations has to',
  ],
  ['"l1FeeOracle"', '"l1Gas": "arbitrum", "l1FeeOracle"', '/chains/0/l1Gas', 'beside the gas'],
  [DELIVERER, RELAYER, '/deliverers/0', 'is already a relayer, and cannot be a deliverer'],
  [OTHER_RELAYER, RELAYER, '/relayers/1', 'is already a relayer'],
  [RETIRING, `"retiring": ["${VAULT}"], ${RETIRING}`, '/retiring/0', 'is neither a relayer nor a deliverer'],
  [
    RETIRING,
    `"retiring": ["${DELIVERER}"], ${RETIRING}`,
    '/retiring',
    'at least one deliverer has to stay active',
  ],
  ['0x3000000000000000000000000000000000000001', DELIVERER, '/attesters/members/0', 'is already a deliverer'],
  ['0x4000000000000000000000000000000000000001', RELAYER, '/treasury', 'is already a relayer'],
  [
    '0x5000000000000000000000000000000000000002',
    DELIVERER,
    '/chains/0/contracts/escrow',
    'is already a deliverer',
  ],
  [VAULT, VAULT.replace(/3$/, '2'), '/chains/0/contracts/vault', 'is already the escrow contract'],
  [
    '8opHzTAnfzRpPEx21XtnrVTX28YQuCpAjcn1PczScKh7',
    VAULT_ON_SOLANA,
    '/chains/1/feePayers/delivery',
    'is already the vault',
  ],
  [
    '"buy": "0x4200000000000000000000000000000000000006"',
    `"buy": "${RELAYER}"`,
    '/venues/1/pools/0/buy',
    'is not one of the tokens of base',
  ],
]

describe.each([
  ['invalid JSON', notJson],
  ['a value that violates the schema', misshapen],
  ['a value that contradicts others', unfit],
  ['a wrong address', wrongAddresses],
])('%s is reported with its line', (_, cases) => {
  test.each(cases)('%s -> %s', (from, to, path, message, at) => {
    const text = change(from, to)

    const { problems } = parseNetwork(text)

    const line = at === undefined ? lineOf(NETWORK_TEXT, from) : lineOf(text, at)
    expect(problems).toEqual([
      { path, message: expect.stringContaining(message), line, column: expect.any(Number) },
    ])
  })
})

test('a setting may be anywhere in the URL of a node, and two settings are two nodes', () => {
  const [one, two] = [setting('ONE'), setting('TWO')]
  const urls = `"https://${one}:${two}/", "https://a.example/${one}", "https://a.example/${two}"`

  expect(parseNetwork(change('"https://two.base.example"', urls)).problems).toEqual([])
})

test('all problems are reported at once, in the order of their lines', () => {
  const text = NETWORK_TEXT.replace('"hard": 450', '"hard": 0')
    .replace('"blockMs": 400,', '')
    .replace('"feeCentiBps": 1250', '"feeCentiBps": "much"')

  const lines = parseNetwork(text).problems.map((problem) => describeProblem('geoswap.json', problem))

  expect(lines).toEqual([
    'geoswap.json:36:9: /chains/0/finality/hard: must be >= 1',
    'geoswap.json:43:5: /chains/1: blockMs is missing',
    'geoswap.json:116:3: /feeCentiBps: must be integer',
  ])
})

test('an unknown field hides no other problem', () => {
  const text = change('"exposureCapUsd"', '"exposureCap"')
    .replace('"chainId": 9001,\n', '"chainId": 8453,\n')
    .replace('0x71041ddd', '0x71041DDD')

  const lines = parseNetwork(text).problems.map((problem) => describeProblem('geoswap.json', problem))

  expect(lines).toEqual([
    'geoswap.json:40:7: /chains/0/exposureCap: unknown field',
    'geoswap.json:44:7: /chains/1/chainId: 8453 is repeated',
    expect.stringMatching(/^geoswap.json:72:11: \/assets\/0\/sources\/0\/address: .* wrong checksum/),
  ])
})

test('a malformed part hides no problems of other parts', () => {
  const text = change('"https://one.solana.example"', '7')
    .replace('"settle": 3', '"settle": 451')
    .replace('"USDC", "address": "0x833589f', '"USDC", "address": "0x833589F')
    .replace('"cap": "1000000"', '"cap": "10"')

  expect(parseNetwork(text).problems.map(({ path }) => path)).toEqual([
    '/chains/0/tokens/0/address',
    '/chains/0/finality/settle',
    '/chains/1/rpcUrls/0',
    '/chains/1/priorityPrice/cap',
  ])
})

test('missing contracts do not hide a mistyped token', () => {
  const text = change(`"${VAULT}"`, `"${TO_FILL_IN}"`).replace(
    '"USDC", "address": "0x833589f',
    '"USDC", "address": "0x833589F',
  )

  expect(parseNetwork(text).problems.map(({ path }) => path)).toEqual([
    '/chains/0/contracts/vault',
    '/chains/0/tokens/0/address',
  ])
})

/** The paths of all parts of a value, itself included. */
function pathsIn(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [at]
  return [at, ...Object.entries(value).flatMap(([name, part]) => pathsIn(part, [...at, name]))]
}

/** Replaces one part, or omits it if it is a field. */
function replaced(value: unknown, [name, ...below]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by
  if (Array.isArray(value))
    return value.map((part, index) => (String(index) === name ? replaced(part, below, by) : part))
  const fields = { ...(value as Record<string, unknown>) }
  return { ...fields, [name]: replaced(fields[name], below, by) }
}

const SHAPE =
  /^must (be (array|boolean|integer|object|string)|match)|^unknown (kind or family|field)$|is missing$/
const float = { chainId: 8453, low: '0.02', target: '0.1', maxPerDay: '0.5' }
const complete = {
  ...JSON.parse(NETWORK_TEXT),
  retiring: [RELAYER],
  gasFloat: { evm: '0x9000000000000000000000000000000000000009', chains: [float] },
}

test.each([
  ['null', null],
  ['missing', undefined],
])('%s causes no problem of other parts', (_, by) => {
  const misfits = pathsIn(complete).flatMap((path) => {
    const { problems } = parseNetwork(JSON.stringify(replaced(complete, path, by)) ?? 'null')
    const isAboutShape = problems.some(({ message }) => SHAPE.test(message))
    return isAboutShape ? problems.filter(({ message }) => !SHAPE.test(message)) : []
  })

  expect(pathsIn(complete).length).toBeGreaterThan(150)
  expect(misfits).toEqual([])
})
