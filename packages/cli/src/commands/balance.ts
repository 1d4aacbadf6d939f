import { formatAmount } from '@geoswap/wallet/amounts'
import { readBalances } from '@geoswap/wallet/balances'
import { connect, readCatalog } from '@geoswap/wallet/context'
import { columns, defineCommand } from '../command.ts'

export const balance = defineCommand({
  usage: '[--wallet NAME|ADDRESS] [--chain CHAIN] [options]',
  about: `Reads from the chains what a wallet holds of the tokens that can be swapped.
Without --chain: on all chains with a configured node and a wallet.`,
  words: [0, 0],
  options: {
    wallet: { type: 'string', value: 'WHO', about: 'wallet or address; default: see geoswap wallet --help' },
    chain: { type: 'string', value: 'CHAIN', about: 'on this chain only, by name or id' },
    all: { type: 'boolean', about: 'include zero balances' },
    raw: { type: 'boolean', about: 'amounts are integers in the smallest unit' },
  },
  examples: ['', '--wallet bot --chain alpha', '--wallet 0x7099… --json'],

  async run(context, { values }) {
    const catalog = await readCatalog(connect(context), context.interrupts.signal)
    const { owners, held: all } = await readBalances(context, catalog, values)
    const held = all.filter(({ amount }) => values.all || amount !== '0')
    const rows = held.map((each) => [
      `${each.chain}:${each.symbol}`,
      values.raw ? each.amount : formatAmount(BigInt(each.amount), each.decimals),
      each.owner,
    ])
    const lines =
      rows.length > 0
        ? columns(rows)
        : owners.map(({ chain, owner }) => `${owner} holds nothing on ${chain.name}`)
    context.terminal.result(lines, { balances: held })
    return 0
  },
})
