import type { BuildGeoOpReply, OriginMethod } from '@geoswap/wire'
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  hashTypedData,
  type TypedDataDefinition,
  zeroAddress,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { ApiClient } from './client.ts'
import { type Order, quoteOnceSettled, toRequest, type WorldChain } from './world.ts'

type Caller = { api: ApiClient }

/** A quote and its build by one way. */
export async function buildBy(
  { api }: Caller,
  wallet: { address: string },
  { order, method }: { order: Order; method: OriginMethod },
) {
  const quote = await quoteOnceSettled(api, toRequest(wallet, order))
  const build = await api.build({ geoQuoteToken: quote.geoQuoteToken, method })
  if (build.status !== 200) throw new Error(`build: ${build.status} ${build.body.code} ${build.body.message}`)
  return { quote, build: build.body }
}

/** The build asks for this signature: the token's typed data, or the op itself. */
const toSign = ({ typedData, operation }: BuildGeoOpReply) =>
  (typedData ?? operation) as unknown as TypedDataDefinition

export const signBuild = (wallet: PrivateKeyAccount, build: BuildGeoOpReply) =>
  wallet.signTypedData(toSign(build))

/** The hash that a signature of this build is for. */
export const digestOf = (build: BuildGeoOpReply) => hashTypedData(toSign(build))

export async function submitBy(
  caller: Caller,
  wallet: PrivateKeyAccount,
  asked: { order: Order; method: OriginMethod },
) {
  const built = await buildBy(caller, wallet, asked)
  const { geoOpToken } = built.build
  const isSigned = asked.method !== 'deposit' && asked.method !== 'transfer'
  const signature = isSigned ? await signBuild(wallet, built.build) : undefined
  const { status, body } = await caller.api.submit({ geoOpToken, ...(signature && { signature }) })
  if (status !== 200) throw new Error(`submit: ${status} ${body.code} ${body.message}`)
  return { ...built, swapId: body.swapId }
}

/** A plain transfer by anyone who holds the token. */
export async function pay(
  chain: WorldChain,
  from: Address,
  { to, symbol, amount }: { to: string; symbol: string; amount: bigint },
): Promise<Hex> {
  const token = chain.token(symbol)
  const recipient = to as Address
  if (token === zeroAddress) return chain.as(from, { to: recipient, value: amount })
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [recipient, amount] })
  return chain.as(from, { to: token, data })
}

/** The deadline of a built op passes on its chain. */
export async function passDeadline(
  chain: WorldChain,
  { operation }: { operation: { message: object } },
): Promise<void> {
  const { opDeadline } = operation.message as { opDeadline: string }
  const { timestamp } = await chain.client.getBlock()
  await chain.advance(Number(BigInt(opDeadline) - timestamp) + 1)
  await chain.mine()
}
