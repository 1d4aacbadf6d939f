import { getAccount, isAddressOf } from '@geoswap/wallet/catalog'
import { connect } from '@geoswap/wallet/context'
import { resolveOrder } from '@geoswap/wallet/order'
import { chooseWallet } from '@geoswap/wallet/wallets'
import { defineCommand } from '../command.ts'
import { quoteLines } from '../print.ts'
import { orderOptions, toWords } from './order-options.ts'

export const quote = defineCommand({
  usage: 'CHAIN:TOKEN CHAIN:TOKEN (--amount N | --receive N) [options]',
  about: `Prices a swap. Nothing is signed; geoswap swap quotes again. --wallet may be an address.`,
  words: [2, 2],
  options: orderOptions,
  examples: ['alpha:USDC beta:ETH --amount 100', 'alpha:USDC beta:ETH --receive 0.1'],

  async run(context, { values, words }) {
    const client = connect(context)
    const { order, request } = await resolveOrder(
      context,
      client,
      toWords(values, words),
      async ({ chain }) => {
        const { family, name } = chain
        const { wallet: named } = values
        if (named?.includes(':')) return { name: '', family, address: getAccount(chain, named) }
        if (named !== undefined && isAddressOf(family, named)) return { name: '', family, address: named }
        return chooseWallet(context, { family, chain: name, named })
      },
    )
    const asked = { ...request, walletAddress: order.wallet.address }
    const reply = await client.quote(asked, { signal: context.interrupts.signal })
    const { from, to } = order
    const lines = quoteLines(reply, order, { raw: values.raw ?? false })
    context.terminal.result(lines, { ...reply, request: asked, from, to })
    return 0
  },
})
