import { getChain, getSide } from '@geoswap/wallet/catalog'
import { type Context, connect, readCatalog } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import type { OrderArguments } from '@geoswap/wallet/order'
import { ORIGIN_METHODS, type OriginMethod } from '@geoswap/wire/names'

/** The context with the nodes of `--rpc`. */
export async function withNodes(context: Context, nodes: readonly string[], from = ''): Promise<Context> {
  if (nodes.length === 0) return context
  const catalog = await readCatalog(connect(context), context.interrupts.signal)
  const rpcUrls = nodes.map((text) => {
    const [, name, url] = /^(?:([^=/]+)=)?(https?:\/\/.+)$/i.exec(text) ?? []
    const chain = name === undefined ? getSide(catalog, from).chain : getChain(catalog.chains, name)
    if (url !== undefined) return [chain.chainId, url]
    throw new UserError('USAGE', `--rpc ${text} is not a node.`, {
      advice: 'Write --rpc URL or --rpc CHAIN=URL.',
    })
  })
  return context.withNodes(Object.fromEntries(rpcUrls))
}

/** Options shared by `swap` and `quote`. */
export const orderOptions = {
  amount: {
    type: 'string',
    value: 'N',
    about: 'amount to pay, in whole tokens, or max for the whole balance',
  },
  receive: { type: 'string', value: 'N', about: 'exact amount to receive; the quote says what it costs' },
  to: {
    type: 'string',
    value: 'WHO',
    about: 'address or wallet that gets the output; default: the paying wallet',
  },
  wallet: { type: 'string', value: 'NAME', about: 'wallet that pays; default: see geoswap wallet --help' },
  slippage: {
    type: 'string',
    value: 'BPS',
    about: 'largest gap between quoted and guaranteed output; 50 is 0.5 %',
  },
  'max-eta': {
    type: 'string',
    value: 'SECONDS',
    about: 'the longest time; pays for the fast way if only that keeps it',
  },
  'external-id': { type: 'string', value: 'TEXT', about: 'your own name for the swap, up to 64 characters' },
  raw: { type: 'boolean', about: 'amounts are integers in the smallest unit' },
} as const

export const nodesOption = {
  type: 'string',
  multiple: true,
  value: '[CHAIN=]URL',
  about: 'a node of yours that verifies contracts and tokens; without CHAIN, of the origin chain',
} as const

export function toMethod(text: string | undefined): OriginMethod | undefined {
  const found = ORIGIN_METHODS.find((method) => method === text)
  if (found || text === undefined) return found
  throw new UserError('USAGE', `--method ${text} is none of ${ORIGIN_METHODS.join(', ')}.`)
}

type Values = Partial<
  Record<
    'amount' | 'receive' | 'to' | 'slippage' | 'min-receive' | 'max-pay' | 'max-eta' | 'external-id',
    string
  >
> & {
  raw?: boolean
}

export function toOrderArguments(values: Values, [from = '', to = '']: readonly string[]): OrderArguments {
  return {
    from,
    to,
    amount: values.amount,
    receive: values.receive,
    raw: values.raw,
    recipient: values.to,
    slippage: values.slippage,
    minReceive: values['min-receive'],
    maxPay: values['max-pay'],
    maxEta: values['max-eta'],
    externalId: values['external-id'],
  }
}
