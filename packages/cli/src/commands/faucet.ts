import { parseAmount } from '@geoswap/wallet/amounts'
import { getSide } from '@geoswap/wallet/catalog'
import { connect, readCatalog } from '@geoswap/wallet/context'
import { askFaucet } from '@geoswap/wallet/swap/local-wallet'
import { chooseAddress } from '@geoswap/wallet/wallets'
import { defineCommand } from '../command.ts'

export const faucet = defineCommand({
  usage: 'CHAIN:TOKEN --amount N [--wallet NAME|ADDRESS]',
  about: 'Gives test tokens on a network of npm start. They are worth nothing.',
  words: [1, 1],
  options: {
    amount: { type: 'string', value: 'N', about: 'how much, in whole tokens; default 100' },
    wallet: { type: 'string', value: 'WHO', about: 'wallet or address; default: see geoswap wallet --help' },
  },
  examples: ['alpha:USDC --amount 50', 'solana:SOL --amount 1 --wallet sol'],

  async run(context, { values, words: [text = ''] }) {
    const side = getSide(await readCatalog(connect(context), context.interrupts.signal), text)
    const { chain, token } = side
    const address = await chooseAddress(context, {
      family: chain.family,
      chain: chain.name,
      chainId: chain.chainId,
      named: values.wallet,
    })
    const { amount: typed = '100' } = values
    const amount = parseAmount(typed, token)
    const txHash = await askFaucet(context, side, { address, amount })
    const line = `${address} got ${typed} ${token.symbol} on ${chain.name}`
    context.terminal.result([line], { address, amount: amount.toString(), token: token.address, txHash })
    return 0
  },
})
