import { getChain } from '@geoswap/wallet/catalog'
import { connect } from '@geoswap/wallet/context'
import { chooseAddress } from '@geoswap/wallet/wallets'
import { columns, defineCommand } from '../command.ts'

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
      ...(delegatedTo ? [['delegated to', delegatedTo]] : []),
      ...(delegationTarget ? [['to sign', `${delegationTarget} at nonce ${accountNonce}`]] : []),
    ]
    context.terminal.result(columns(rows), reply)
    return 0
  },
})

function readyLater(target: string | undefined): string {
  return target ? 'with its first swap, which signs an authorization' : 'no: use another wallet on this chain'
}
