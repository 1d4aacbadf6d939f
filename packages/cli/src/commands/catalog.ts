import type { TokenEntry } from '@geoswap/sdk'
import { formatAmount } from '@geoswap/wallet/amounts'
import { getChain } from '@geoswap/wallet/catalog'
import { connect, readCatalog } from '@geoswap/wallet/context'
import { columns, defineCommand } from '../command.ts'

export const chains = defineCommand({
  usage: '',
  about: 'Lists the chains that can be swapped from and to.',
  words: [0, 0],
  options: {},
  examples: ['', '--json'],

  async run(context) {
    const reply = await connect(context).chains({ signal: context.interrupts.signal })
    const rows = reply.chains.map(({ chainId, name, family, native, available, reason }) => [
      name,
      `${chainId}`,
      family,
      native.symbol,
      available ? 'available' : `not available: ${reason}`,
    ])
    context.terminal.result(columns([['CHAIN', 'ID', 'FAMILY', 'COIN', 'NOW'], ...rows]), reply)
    return 0
  },
})

export const tokens = defineCommand({
  usage: '[--chain CHAIN]',
  about: 'Lists the tokens that can be paid with and bought now.',
  words: [0, 0],
  options: {
    chain: { type: 'string', value: 'CHAIN', about: 'of this chain only, by name or id' },
    raw: { type: 'boolean', about: 'amounts are integers in the smallest unit' },
  },
  examples: ['', '--chain solana'],

  async run(context, { values }) {
    const catalog = await readCatalog(connect(context), context.interrupts.signal)
    const only = values.chain === undefined ? undefined : getChain(catalog.chains, values.chain)
    const listed = catalog.tokens.filter(({ chainId }) => only === undefined || chainId === only.chainId)
    const nameOf = (id: number) => catalog.chains.find(({ chainId }) => chainId === id)?.name ?? `${id}`
    const rows = listed.map((token) => [
      `${nameOf(token.chainId)}:${token.symbol}`,
      token.address,
      `${token.decimals}`,
      token.priceUsd ?? '-',
      token.input ? 'yes' : 'no',
      mostOf(token, values.raw ?? false),
    ])
    const head = ['TOKEN', 'ADDRESS', 'DECIMALS', 'USD', 'CAN PAY', 'CAN BUY UP TO']
    context.terminal.result(columns([head, ...rows]), { tokens: listed })
    return 0
  },
})

function mostOf({ maxOutput, decimals }: TokenEntry, raw: boolean): string {
  if (maxOutput === undefined) return '-'
  return raw ? maxOutput : formatAmount(BigInt(maxOutput), decimals)
}
