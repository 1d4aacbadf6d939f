import { connect } from '@geoswap/wallet/context'
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
