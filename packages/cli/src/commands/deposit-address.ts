import type { Deposit } from '@geoswap/sdk'
import { getChain } from '@geoswap/wallet/catalog'
import { connect } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { evm } from '@geoswap/wallet/families/evm'
import { money, resolveOrder } from '@geoswap/wallet/order'
import type { Order } from '@geoswap/wallet/store/journal'
import { openDeposit } from '@geoswap/wallet/swap/deposit'
import { followAttempt } from '@geoswap/wallet/swap/follow'
import { chooseAddress, chooseAnybody } from '@geoswap/wallet/wallets'
import { columns, defineCommand } from '../command.ts'
import { swapLines } from '../print.ts'
import { nodesOption, orderOptions, toOrderArguments, withNodes } from './order-options.ts'

export const depositAddress = defineCommand({
  usage: 'CHAIN:TOKEN CHAIN:TOKEN (--amount N | --receive N) [options]',
  about: `Prints an address that swaps what is sent to it: from any wallet, an exchange or a custodian, without
a signature. Send exactly the amount, once, within a quarter of an hour. --wallet is the wallet, or
its address, that gets back whatever is not swapped: never an address of an exchange.`,
  words: [2, 2],
  options: {
    ...orderOptions,
    'min-receive': { type: 'string', value: 'N', about: 'refuse a quote that guarantees less' },
    'max-pay': { type: 'string', value: 'N', about: 'refuse a quote that costs more, for --receive' },
    wait: { type: 'boolean', about: 'wait for the deposit and the end of the swap' },
    rpc: nodesOption,
  },
  examples: [
    'base:USDC arbitrum:USDC --amount 100 --wallet treasury',
    'base:USDC arbitrum:USDC --amount 100 --wallet 0x7099… --wait',
  ],

  async run(given, { values, words }) {
    const context = await withNodes(given, values.rpc ?? [], words[0])
    const client = connect(context)
    const ready = await resolveOrder(context, client, toOrderArguments(values, words), async ({ chain }) => {
      if (chain.family === evm.name) return chooseAnybody(context, chain, values.wallet)
      throw new UserError('USAGE', `There are no deposit addresses on ${chain.name}.`)
    })
    const { order } = ready
    const { deposit: opened, attempt } = await openDeposit(context, client, ready)
    const style = { raw: values.raw ?? false }
    const { quote: _quote, ...shown } = opened
    context.terminal.result(depositLines(opened, order, style), { ...shown, attempt: attempt.id })
    if (!values.wait) return 0
    const ended = await followAttempt(context, client, attempt)
    for (const line of swapLines(ended, order, style)) context.terminal.note(line)
    return ended.status === 'settled' ? 0 : 2
  },
})

function depositLines(opened: Deposit, order: Order, style: { raw: boolean }): string[] {
  const { quote, depositAddress, until, swapId } = opened
  return columns([
    ['send', money(opened.amount, order.from, style)],
    ['token', opened.token],
    ['to', depositAddress],
    ['until', until],
    ['get', `${money(quote.output, order.to, style)}, at least ${money(quote.minOutput, order.to, style)}`],
    ['recipient', order.recipient],
    ['back to', `${order.wallet.address}, whatever is not swapped`],
    ['swap', swapId],
  ])
}

export const delegation = defineCommand({
  usage: 'CHAIN [--wallet NAME|ADDRESS]',
  about: `Says whether a wallet can already swap from a chain.
If not, its first swap there signs an authorization, once.`,
  words: [1, 1],
  options: {
    wallet: { type: 'string', value: 'WHO', about: 'wallet or address; default: see geoswap wallet --help' },
  },
  examples: ['alpha', 'alpha --wallet 0x7099…'],

  async run(context, { values, words: [text = ''] }) {
    const { signal } = context.interrupts
    const client = connect(context)
    const { chainId, family, name } = getChain((await client.chains({ signal })).chains, text)
    const walletAddress = await chooseAddress(context, { family, chain: name, chainId, named: values.wallet })
    const reply = await client.delegation({ chainId, walletAddress }, { signal })
    const { delegatedTo, delegationTarget, accountNonce, originReady } = reply
    const rows = [
      ['wallet', `${reply.walletAddress} on ${name}`],
      ['ready', originReady ? 'yes' : readyLater(delegationTarget)],
      ['delegated to', delegatedTo],
      ['to sign', delegationTarget && `${delegationTarget} at nonce ${accountNonce}`],
    ]
    context.terminal.result(columns(rows), reply)
    return 0
  },
})

function readyLater(target: string | undefined): string {
  return target ? 'with its first swap, which signs an authorization' : 'no: use another wallet on this chain'
}
