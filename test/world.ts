import { fromIndex, geoEscrowAbi, type SlotState, slotStateOf } from '@geoswap/protocol'
import type { BuildGeoOpReply, StatusReply } from '@geoswap/wire'
import {
  type Address,
  createTestClient,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  http,
  parseAbi,
  publicActions,
  type SignedAuthorization,
  walletActions,
  zeroAddress,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type ApiClient, createApiClient } from './client.ts'
import { patience } from './patience.ts'

/** The content of `local.json`: everything that an external caller of a running network needs. */
export type LocalNetwork = {
  apiUrl: string
  apiKey: string
  faucetUrl: string
  /** Present if the network has a page. */
  operatorUrl?: string
  metricsUrls: string[]
  /** Chains of several families: this file is about the EVM chains. */
  chains: (LocalChain | LocalSolanaChain)[]
  /** By chain, in the format of the SDK. */
  pins: Record<number, { account?: string; escrow: string; vault: string }>
  feeds: Feed[]
  /** The block time, if a test has made the chains faster than usual. */
  blockMs?: number
  slotMs?: number
}
type Feed = { asset: string; chainId: number; address: Address; decimals: number }
type LocalChain = {
  chainId: number
  name: string
  family: 'evm'
  rpcUrl: string
  shape?: LocalShape
  tokens: { symbol: string; address: Address; decimals: number }[]
  contracts: { account: Address; escrow: Address; vault: Address }
  uniswapV3: { router: Address; pools: { address: Address; tokens: [Address, Address]; fee: number }[] }
}

/** Present on a chain that behaves like a public one. */
type LocalShape = { blockMs: number; controlUrl: string; nodeUrl: string }

export type LocalSolanaChain = Pick<LocalChain, 'chainId' | 'name' | 'rpcUrl' | 'shape'> & {
  family: 'solana'
  wsUrl: string
  tokens: { symbol: string; address: string; decimals: number }[]
  program: string
  vault: string
  attester: string
}

export type World = ReturnType<typeof createWorld>
export type WorldChain = ReturnType<typeof toChain>

/** Scenarios: funded wallets, orders and swaps, all through HTTP and the chains' RPC. */
export function createWorld(local: LocalNetwork) {
  const api = createApiClient(local)
  const chains = local.chains.filter((chain) => chain.family === 'evm').map((chain) => toChain(chain, local))
  const chainNamed = (name: string) => getOne(chains, (chain) => chain.name === name)

  async function fund(chain: WorldChain, owner: Address, symbol: string, amount: bigint): Promise<void> {
    const body = {
      chainId: chain.chainId,
      address: owner,
      token: chain.token(symbol),
      amount: amount.toString(),
    }
    const response = await fetch(local.faucetUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`faucet: ${await response.text()}`)
  }

  /** A new wallet that holds only this. */
  async function walletWith(chain: WorldChain, symbol: string, amount: bigint): Promise<PrivateKeyAccount> {
    const wallet = privateKeyToAccount(generatePrivateKey())
    await fund(chain, wallet.address, symbol, amount)
    return wallet
  }

  const feedOf = (chain: WorldChain, asset: string) =>
    getOne(local.feeds, (feed) => feed.asset === asset && feed.chainId === chain.chainId)

  /** Sets the answer of an asset's feed on this chain only. */
  function setFeed(chain: WorldChain, asset: string, usd: number): Promise<void> {
    const feed = feedOf(chain, asset)
    return chain.updateAnswer(feed.address, BigInt(Math.round(usd * 10 ** feed.decimals)))
  }

  /** Sets every feed of the asset. Until each of those chains has a block, the feeds may disagree. */
  async function setPrice(asset: string, usd: number): Promise<void> {
    const having = chains.filter(({ chainId }) =>
      local.feeds.some((feed) => feed.asset === asset && feed.chainId === chainId),
    )
    await Promise.all(having.map((chain) => setFeed(chain, asset, usd)))
  }

  /**
   * Sets the feed, and waits until quotes of this chain use it, or find no price because another chain is
   * halted.
   */
  async function movePrice(chain: WorldChain, asset: string, usd: number, isAgreed = false): Promise<void> {
    const route = { originChain: chain.chainId, destinationChain: chain.chainId }
    const tokens = { inputToken: chain.token('USDC'), outputToken: chain.token(asset) }
    const sold = getOne(local.chains, ({ chainId }) => chainId === chain.chainId)
    const { decimals } = getOne(sold.tokens, ({ symbol }) => symbol === 'USDC')
    const amount = (10n * 10n ** BigInt(decimals)).toString()
    const walletAddress = privateKeyToAccount(generatePrivateKey()).address
    const quoted = async () => (await api.quote({ ...route, ...tokens, amount, walletAddress })).body.output
    const before = await quoted()
    await setPrice(asset, usd)
    await until(async () => {
      const now = await quoted()
      return now === undefined ? !isAgreed : !before || isFar(BigInt(now), BigInt(before))
    })
  }

  return {
    local,
    api,
    chains,
    chainNamed,
    // A network of another shape has other chains.
    get alpha() {
      return chainNamed('alpha')
    },
    get beta() {
      return chainNamed('beta')
    },
    fund,
    walletWith,
    feedOf,
    setFeed,
    setPrice,
    movePrice,
  }
}

/** Further apart than fees, which change with every block, can explain. */
const isFar = (one: bigint, other: bigint) => 100n * (one > other ? one - other : other - one) > other

function getOne<T>(items: readonly T[], isIt: (item: T) => boolean): T {
  const found = items.find(isIt)
  if (!found) throw new Error('The network does not have that')
  return found
}

const isSame = (address: Address, other: Address | null) => address.toLowerCase() === other?.toLowerCase()

function toChain(local: LocalChain, { feeds, ...network }: LocalNetwork) {
  const { chainId, name, tokens, contracts, uniswapV3, shape } = local
  const blockMs = shape?.blockMs ?? network.blockMs ?? 1_000
  const nodeUrl = shape?.nodeUrl ?? local.rpcUrl
  const client = createTestClient({ mode: 'hardhat', transport: http(nodeUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
  const token = (symbol: string) => getOne(tokens, (candidate) => candidate.symbol === symbol).address
  return {
    chainId,
    name,
    client,
    token,
    uniswapV3,
    contracts: {
      account: getAddress(contracts.account),
      escrow: getAddress(contracts.escrow),
      vault: getAddress(contracts.vault),
    },
    async balanceOf(owner: Address, symbol: string): Promise<bigint> {
      const address = token(symbol)
      if (address === zeroAddress) return client.getBalance({ address: owner })
      return client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] })
    },
    /** The escrow's state of a built operation. */
    async lockStateOf({ geoOpHash, operation: { message } }: BuildGeoOpReply): Promise<SlotState> {
      const { locker, index } = message as { locker: Address; index: string }
      const args = [locker, fromIndex(BigInt(index)).position] as const
      const escrow = { address: contracts.escrow, abi: geoEscrowAbi } as const
      return slotStateOf(
        await client.readContract({ ...escrow, functionName: 'slot', args }),
        geoOpHash as Hex,
      )
    },
    codeOf: async (address: Address): Promise<Hex> => (await client.getCode({ address })) ?? '0x',
    halt: () => client.request({ method: 'evm_setIntervalMining', params: [0] } as never),
    resume: () => client.request({ method: 'evm_setIntervalMining', params: [blockMs] } as never),
    mine: () => client.mine({ blocks: 1 }),
    /**
     * Waits until a transaction to this address, or any except a price update, is at the node for the next
     * block, and returns it.
     */
    untilPending: (target?: Address) =>
      until(async () => {
        const { transactions } = await client.getBlock({ blockTag: 'pending', includeTransactions: true })
        const isUpdate = (to: Address | null) => feeds.some(({ address }) => isSame(address, to))
        return transactions.find(({ to }) => (target ? isSame(target, to) : !isUpdate(to)))
      }),
    advance: (seconds: number) => client.increaseTime({ seconds }),
    /** Sends as this account, ahead of all other pending transactions. */
    async as(owner: Address, call: { to: Address; data?: Hex; value?: bigint; gas?: bigint }): Promise<Hex> {
      await client.impersonateAccount({ address: owner })
      await client.setBalance({ address: owner, value: 10n ** 20n })
      const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 12n }
      return client.sendTransaction({ account: owner, chain: null, gas: 500_000n, ...fees, ...call })
    },
    /**
     * Another account's transaction with a wallet's authorization, ahead of all other pending transactions.
     */
    async sendAuthorization(authorization: SignedAuthorization): Promise<void> {
      const account = privateKeyToAccount(generatePrivateKey())
      await client.setBalance({ address: account.address, value: 10n ** 20n })
      const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 12n }
      const call = { to: account.address, gas: 200_000n, nonce: 0, authorizationList: [authorization] }
      const serializedTransaction = await account.signTransaction({
        chainId,
        type: 'eip7702',
        ...fees,
        ...call,
      })
      await client.sendRawTransaction({ serializedTransaction })
    },
    async updateAnswer(feed: Address, answer: bigint): Promise<void> {
      const anyone = '0x00000000000000000000000000000000000000fe'
      const abi = parseAbi(['function updateAnswer(int256 answer)'])
      const data = encodeFunctionData({ abi, functionName: 'updateAnswer', args: [answer] })
      await this.as(anyone, { to: feed, data })
    },
  }
}

/** A chain of any family, with the fields that an order needs. */
export type Side = { chainId: number; token(symbol: string): string }

export type Order<From extends Side = WorldChain> = {
  from: From
  sell: string
  to: Side
  buy: string
  amount: bigint
} & Partial<{
  recipient: string
  slippageBps: number
  tradeType: 'exactInput' | 'exactOutput'
  maxEtaSeconds: number
  externalId: string
}>

export function toRequest(
  wallet: { address: string },
  { from, sell, to, buy, amount, ...rest }: Order<Side>,
) {
  return {
    originChain: from.chainId,
    destinationChain: to.chainId,
    inputToken: from.token(sell),
    outputToken: to.token(buy),
    amount: amount.toString(),
    walletAddress: wallet.address,
    ...rest,
  }
}

/** The authorization of a new wallet, with exactly the two fields that the service names. */
export async function authorize(api: ApiClient, wallet: PrivateKeyAccount, chainId: number) {
  const { body } = await api.delegation(chainId, wallet.address)
  if (body.delegationTarget === undefined || body.accountNonce === undefined) return undefined
  const signed = await wallet.signAuthorization({
    chainId,
    contractAddress: body.delegationTarget as Address,
    nonce: body.accountNonce,
  })
  const { r, s, yParity } = signed
  return { chainId, address: body.delegationTarget, nonce: body.accountNonce, yParity, r, s }
}

/** A quote, once the service has noticed changes of the previous test. */
export async function quoteOnceSettled(api: ApiClient, request: object) {
  let refusal = ''
  const ask = async () => {
    const { status, body } = await api.quote(request)
    if (status === 200) return body
    refusal = `quote: ${status} ${body.code} ${body.message}`
    if (status === 503 || status === 429 || body.code === 'INSUFFICIENT_LIQUIDITY') return undefined
    throw new Error(refusal)
  }
  return until(ask).catch((cause) => {
    throw new Error(refusal, { cause })
  })
}

/** Quotes, authorizes if needed, builds and signs: everything before the submission. */
export async function prepare({ api }: Pick<World, 'api'>, wallet: PrivateKeyAccount, order: Order) {
  const quote = await quoteOnceSettled(api, toRequest(wallet, order))
  const authorization = await authorize(api, wallet, order.from.chainId)
  const build = await api.build({
    geoQuoteToken: quote.geoQuoteToken,
    ...(authorization && { authorization }),
  })
  if (build.status !== 200) throw new Error(`build: ${build.status} ${build.body.code} ${build.body.message}`)
  const signature = await wallet.signMessage({ message: { raw: build.body.geoOpHash as Hex } })
  return {
    quote,
    build: build.body,
    submission: { geoOpToken: build.body.geoOpToken, signature },
  }
}

export async function submitSwap(world: Pick<World, 'api'>, wallet: PrivateKeyAccount, order: Order) {
  return submitPrepared(world, await prepare(world, wallet, order))
}

type Prepared = Awaited<ReturnType<typeof prepare>>

export async function submitPrepared<P extends Prepared>({ api }: Pick<World, 'api'>, prepared: P) {
  const { status, body } = await api.submit(prepared.submission)
  if (status !== 200) throw new Error(`submit: ${status} ${body.code} ${body.message}`)
  return { ...prepared, swapId: body.swapId }
}

/** Waits until the swap is at this stage or a later one. */
export async function stageOf(
  { api }: Pick<World, 'api'>,
  swapId: string,
  stage: string,
): Promise<StatusReply> {
  return until(async () => {
    const { body } = await api.status(swapId, 0)
    return body.timeline.some((entry) => entry.stage === stage) ? body : undefined
  })
}

/** Repeats until there is an answer. The time is that of a fast machine. */
export async function until<T>(ask: () => Promise<T | undefined | false>, timeoutMs = 60_000): Promise<T> {
  const end = Date.now() + timeoutMs * patience
  while (Date.now() < end) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('It did not happen in time')
}

/** Long-polls until the swap has ended. */
export async function outcomeOf({ api }: Pick<World, 'api'>, swapId: string): Promise<StatusReply> {
  for (;;) {
    const { status, body } = await api.status(swapId)
    if (status !== 200) throw new Error(`status: ${status} ${body.code}`)
    if (body.status !== 'pending') return body
  }
}

/** The same, with blocks on the EVM chains faster than real time. */
export async function hurryToEnd({ api, alpha, beta }: World, swapId: string): Promise<StatusReply> {
  let isOver = false
  const outcome = outcomeOf({ api }, swapId).finally(() => {
    isOver = true
  })
  const mining = until(async () => {
    await Promise.all([alpha.mine(), beta.mine()])
    return isOver
  })
  await Promise.all([outcome, mining])
  return outcome
}
