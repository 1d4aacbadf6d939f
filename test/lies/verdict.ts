import { toBytes32 } from '@geoswap/protocol'
import type { QuoteRequest } from '@geoswap/wire'
import { getAddress, type Hex } from 'viem'
import { account, nowSeconds, origin } from '../../packages/sdk/test/evm-offer.ts'
import { parts, transactionOf } from '../../packages/sdk/test/solana-offer.ts'
import { isHashSigned } from '../../packages/service/src/chains/evm/signatures.ts'
import type { Handed } from './liar.ts'
import type { Offered } from './offers.ts'

/** The caller's bounds: the maximum input, and the minimum guaranteed output. */
export type Asked = { request: QuoteRequest; maxInput: bigint; minOutput: bigint }

const DAY_SECONDS = 86_400

/** Everything that was sent to the service and costs more than requested. */
export function findHarm(
  handed: readonly Handed[],
  offered: readonly Offered[],
  asked: Asked,
  maxTotal: bigint,
): string[] {
  const signatures = handed
    .filter(({ path }) => path === '/swap/submit')
    .flatMap(({ body }) => (body['signature'] as Hex | undefined) ?? [])
  const signed = [...new Set(signatures)].map((each) => findOp(each, offered, asked))
  const ops = new Map(signed.flatMap((each) => (each?.op ? [[each.hash, each] as const] : [])))
  const total = [...ops.values()].reduce((sum, { op }) => sum + (op?.inputAmount ?? 0n), 0n)
  return [
    ...handed.flatMap(({ body }) => authorizationHarm(body)),
    ...(signed.some((each) => each?.op === undefined) ? ['something was signed that is no op'] : []),
    ...[...ops.values()].flatMap((each) => opHarm(each, asked)),
    ...(total > maxTotal ? [`${total} can be taken`] : []),
    ...transactionHarm(handed),
  ]
}

/** The first offer that was signed, preferably one with an op. */
function findOp(signature: Hex, offered: readonly Offered[], asked: Asked): Offered | undefined {
  const wallet = getAddress(asked.request.walletAddress)
  const signed = offered.filter(({ hash }) => isHashSigned(wallet, hash, signature))
  return signed.find(({ op }) => op) ?? signed[0]
}

export function opHarm({ op, escrow }: Offered, { request, maxInput, minOutput }: Asked): string[] {
  if (!op) return []
  const { delivery } = op
  const last = BigInt(nowSeconds() + DAY_SECONDS)
  const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
  const rules: [boolean, string][] = [
    [same(escrow ?? '', origin.escrow), 'the escrow is not the pinned one'],
    [same(op.wallet, request.walletAddress), 'the wallet is another one'],
    [same(op.inputToken, request.inputToken), 'another token is paid'],
    [op.inputAmount <= maxInput, `${op.inputAmount} is paid`],
    [delivery.minOutput >= minOutput, `${delivery.minOutput} is guaranteed`],
    [delivery.destinationChain === BigInt(request.destinationChain), 'the chain is another one'],
    [same(delivery.outputToken, toBytes32(request.outputToken)), 'another token is bought'],
    [
      same(delivery.recipient, toBytes32(request.recipient ?? request.walletAddress)),
      'somebody else is paid',
    ],
    [op.refundDeadline <= last && op.opDeadline <= last, 'the input can be held for longer than a day'],
  ]
  return rules.flatMap(([holds, harm]) => (holds ? [] : [harm]))
}

function authorizationHarm({ authorization }: Record<string, unknown>): string[] {
  if (authorization === undefined) return []
  const { chainId, address } = authorization as { chainId: number; address: string }
  const isOurs = chainId === origin.chainId && address.toLowerCase() === account.toLowerCase()
  return isOurs ? [] : [`the wallet is handed to ${address} on chain ${chainId}`]
}

const SIGNATURES = 1 + 2 * 64

/** Only the bytes of the honest message may be signed. */
function transactionHarm(handed: readonly Handed[]): string[] {
  const messageOf = (base64: string) => Buffer.from(base64, 'base64').subarray(SIGNATURES).toString('hex')
  const honest = messageOf(transactionOf(Object.values(parts)))
  return handed
    .filter(({ path }) => path === '/swap/submit-solana')
    .filter(({ body }) => messageOf(String(body['signedTransaction'])) !== honest)
    .map(() => 'another transaction was signed')
}
