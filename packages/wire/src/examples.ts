import type {
  BuildGeoOpReply,
  BuildRequest,
  BuildSolanaRequest,
  BuildSolanaTxReply,
  DelegationReply,
  SubmitReply,
  SubmitRequest,
  SubmitSolanaRequest,
} from './build.ts'
import type { CapabilitiesReply, ChainsReply, TokensReply } from './catalog.ts'
import { ORIGIN_METHODS } from './names.ts'
import type { QuoteReply, QuoteRequest } from './quote.ts'
import type { HistoryReply, StatusReply, SwapRecord, WebhookEvent } from './status.ts'
import type { PaymentRequired, X402Request } from './x402.ts'

const escrow = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const usdcAlpha = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const usdcBeta = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const delegate = '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0'
const quoteToken = 'AWsxAAbQ3v1n…'
const opToken = 'AWsxAAc9Zk2q…'
const word = (digit: string) => `0x${digit.repeat(64)}`

const nativeCoin = '0x0000000000000000000000000000000000000000'

export const chainsReply: ChainsReply = {
  chains: [
    {
      chainId: 31337,
      caip: { chainId: 'eip155:31337', native: 'eip155:31337/slip44:60' },
      name: 'alpha',
      family: 'evm',
      native: { symbol: 'ETH', address: nativeCoin, decimals: 18 },
      available: true,
    },
    {
      chainId: 31339,
      caip: { chainId: 'solana:31339', native: 'solana:31339/slip44:501' },
      name: 'solana',
      family: 'solana',
      native: { symbol: 'SOL', address: '11111111111111111111111111111111', decimals: 9 },
      available: false,
      reason: 'CHAIN_UNAVAILABLE',
    },
  ],
}

export const tokensReply: TokensReply = {
  tokens: [
    {
      chainId: 31337,
      caip: { chainId: 'eip155:31337', address: 'eip155:31337/slip44:60' },
      symbol: 'ETH',
      address: nativeCoin,
      decimals: 18,
      asset: 'ETH',
      native: true,
      input: true,
      output: true,
      originMethods: ['delegation', 'deposit', 'transfer'],
      maxOutput: '4000000000000000000000',
      priceUsd: '2500.00',
    },
    {
      chainId: 31337,
      caip: { chainId: 'eip155:31337', address: `eip155:31337/erc20:${usdcAlpha}` },
      symbol: 'USDC',
      address: usdcAlpha,
      decimals: 6,
      asset: 'USDC',
      native: false,
      input: true,
      output: false,
      originMethods: ['delegation', 'authorization', 'permit', 'deposit', 'transfer'],
      priceUsd: '1.00',
    },
  ],
}

const on = { enabled: true }
const off = { enabled: false, reason: 'NOT_CONFIGURED' } as const

export const capabilitiesReply: CapabilitiesReply = {
  versions: { service: '0.1.0' },
  originMethods: Object.fromEntries(
    ORIGIN_METHODS.map((method) => [method, on]),
  ) as CapabilitiesReply['originMethods'],
  features: {
    fast: { enabled: false, reason: 'NO_ROOM' },
    discounts: on,
    rebalancing: off,
    integratorFees: { enabled: false, reason: 'ACCOUNT_NOT_ALLOWED' },
    contractWallets: on,
    history: on,
    webhooks: { enabled: false, reason: 'NO_ENDPOINT' },
    publishableKeys: on,
    screening: off,
    regions: off,
    x402: off,
    keyless: off,
  },
  limits: {
    requestsPerSecond: { quote: 10, build: 10, submit: 10, delegation: 10, status: 20, other: 10 },
    bodyBytes: 65_536,
    heldReads: 1_000,
    quoteSeconds: 30,
    unsubmitted: 256,
    unsubmittedUsd: '250000.00',
    integratorFeeCentiBps: 0,
    swapUsd: '500.00',
    fixedRecipients: false,
  },
}

export const quoteRequest: QuoteRequest = {
  originChain: 31337,
  destinationChain: 31338,
  inputToken: usdcAlpha,
  outputToken: usdcBeta,
  amount: '10000000',
  walletAddress: wallet,
}

export const quoteReply: QuoteReply = {
  geoQuoteToken: quoteToken,
  origin: 'evm',
  input: '10000000',
  output: '9963000000000000000',
  minOutput: '9913185000000000000',
  originMethods: [
    {
      method: 'delegation',
      input: '10000000',
      output: '9963000000000000000',
      minOutput: '9913185000000000000',
    },
    {
      method: 'authorization',
      input: '10000000',
      output: '9959000000000000000',
      minOutput: '9909205000000000000',
    },
  ],
  feeBps: 12.5,
  expiresAt: '2026-01-02T03:04:35.678Z',
  etaSeconds: 8,
  fees: [
    { kind: 'serviceFee', amount: '12500', usd: '0.01' },
    { kind: 'originNetwork', amount: '14000', usd: '0.01' },
    { kind: 'deliveryNetwork', amount: '8500', usd: '0.01' },
  ],
  inputUsd: '10.00',
  outputUsd: '9.96',
  priceImpactBps: -37,
}

export const delegationQuery = { chainId: '31337', walletAddress: wallet }

export const delegationReply: DelegationReply = {
  chainId: 31337,
  walletAddress: wallet,
  caip: { chainId: 'eip155:31337', walletAddress: `eip155:31337:${wallet}` },
  delegated: false,
  originReady: false,
  delegationTarget: delegate,
  accountNonce: 0,
}

export const buildRequest: BuildRequest = {
  geoQuoteToken: quoteToken,
  authorization: { chainId: 31337, address: delegate, nonce: 0, yParity: 1, r: word('1'), s: word('2') },
}

export const buildSolanaRequest: BuildSolanaRequest = { geoQuoteToken: quoteToken }

export const buildGeoOpReply: BuildGeoOpReply = {
  geoOpHash: word('3'),
  geoOpToken: opToken,
  expiresAt: '2026-01-02T03:06:10.000Z',
  method: 'delegation',
  operation: {
    domain: { name: 'GeoEscrow', version: '1', chainId: 31337, verifyingContract: escrow },
    types: {
      EIP712Domain: [{ name: 'name', type: 'string' }],
      GeoOp: [{ name: 'wallet', type: 'address' }],
      Delivery: [{ name: 'ring', type: 'bytes32' }],
    },
    primaryType: 'GeoOp',
    message: { wallet, inputToken: usdcAlpha, inputAmount: '10000000' },
  },
}

export const buildSolanaTxReply: BuildSolanaTxReply = {
  unsignedTransaction: 'AgAAAAAAAAAA…',
  geoOpToken: opToken,
  expiresAt: '2026-01-02T03:05:10.000Z',
  operation: {
    opId: '7'.repeat(64),
    wallet: '9aE476sH92Vz7DMPyq5WLPkrKWivxeuTKEFKd2sZZcde',
    token: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    amount: '10000000',
    delivery: { destinationChain: '31338', recipient: `0x${wallet.slice(2).padStart(64, '0')}` },
  },
}

export const submitRequest: SubmitRequest = { geoOpToken: opToken, signature: `0x${'4'.repeat(128)}1b` }
export const submitSolanaRequest: SubmitSolanaRequest = {
  geoOpToken: opToken,
  signedTransaction: 'AgAAAAAAAAAA…',
}

export const submitReply: SubmitReply = { swapId: 'swp_4f1c0d6a9b7e42c3a5d8e0f1b2c3d4e5', status: 'pending' }
export const statusParams = { swapId: submitReply.swapId }

export const statusReply: StatusReply = {
  swapId: submitReply.swapId,
  status: 'settled',
  substatus: 'delivered',
  originTxHash: word('5'),
  deliveryTxHash: word('6'),
  createdAt: '2026-01-02T03:04:12.000Z',
  updatedAt: '2026-01-02T03:04:20.000Z',
  originChain: 31337,
  destinationChain: 31338,
  caip: { originChain: 'eip155:31337', destinationChain: 'eip155:31338' },
  amounts: {
    input: '10000000',
    quotedOutput: '9963000000000000000',
    minOutput: '9913185000000000000',
    delivered: '9963000000000000000',
  },
  method: 'delegation',
  timeline: [
    { stage: 'accepted', at: '2026-01-02T03:04:12.000Z' },
    { stage: 'locked', at: '2026-01-02T03:04:14.000Z', chainId: 31337, txHash: word('5') },
    { stage: 'delivered', at: '2026-01-02T03:04:20.000Z', chainId: 31338, txHash: word('6') },
  ],
}

export const eventsReply = `id: 5\ndata: ${JSON.stringify(statusReply)}\n\n`

const swapRecord: SwapRecord = {
  ...statusReply,
  caip: {
    ...statusReply.caip,
    walletAddress: `eip155:31337:${wallet}`,
    recipient: `eip155:31338:${wallet}`,
    inputToken: `eip155:31337/erc20:${usdcAlpha}`,
    outputToken: `eip155:31338/erc20:${usdcBeta}`,
  },
  walletAddress: wallet,
  recipient: wallet,
  inputToken: usdcAlpha,
  outputToken: usdcBeta,
}
export const historyReply: HistoryReply = {
  swaps: [swapRecord],
  nextCursor: 'MjAyNi0wMS0wMlQwMzowNDoxMi4wMDAwMDBa…',
}
export const webhookEvent: WebhookEvent = {
  type: 'swap.settled',
  timestamp: '2026-01-02T03:04:20.000Z',
  sequence: 5,
  data: swapRecord,
}

export const x402Request = {
  originChain: 'eip155:31337',
  destinationChain: '31338',
  inputToken: usdcAlpha,
  outputToken: usdcBeta,
  amount: '10000000',
  recipient: wallet,
} satisfies X402Request

export const paymentRequired: PaymentRequired = {
  x402Version: 1,
  error: 'A payment is required: pay one of accepts',
  accepts: [
    {
      scheme: 'exact',
      network: 'eip155:31337',
      maxAmountRequired: '10000000',
      resource: 'http://127.0.0.1:8080/swap/x402',
      description: 'A swap across chains.',
      mimeType: 'application/json',
      outputSchema: { input: { type: 'http', method: 'GET', queryParams: x402Request } },
      payTo: '0x8ba1f109551bD432803012645Ac136ddd64DBA72',
      maxTimeoutSeconds: 210,
      asset: usdcAlpha,
      extra: { name: 'USD Coin', version: '2' },
    },
  ],
}
