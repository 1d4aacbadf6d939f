import type { Entry } from '../command.ts'

/** In the order of the help. Commands are loaded when called, so the help stays fast. */
export const commands: Readonly<Record<string, Entry>> = {
  swap: {
    about: 'swap one token for another, from quote to end',
    load: async () => (await import('./swap.ts')).swap,
  },
  quote: { about: 'price a swap', load: async () => (await import('./swap.ts')).quote },
  pay: {
    about: 'request a URL and pay what it asks by x402, from any chain',
    load: async () => (await import('./pay.ts')).pay,
  },
  status: {
    about: 'the status of a swap; --wait follows it to its end',
    load: async () => (await import('./status.ts')).status,
  },
  history: { about: 'the swaps of your account', load: async () => (await import('./status.ts')).history },
  refund: {
    about: 'send an input back after its deadline, without the service',
    load: async () => (await import('./refund.ts')).refund,
  },
  recover: {
    about: 'send back what lies at the address of an operation, without the service',
    load: async () => (await import('./refund.ts')).recover,
  },
  'deposit-address': {
    about: 'an address that swaps what is sent to it',
    load: async () => (await import('./deposit-address.ts')).depositAddress,
  },
  balance: { about: 'the balances of a wallet', load: async () => (await import('./wallet.ts')).balance },
  delegation: {
    about: 'whether a wallet can swap from a chain',
    load: async () => (await import('./deposit-address.ts')).delegation,
  },
  chains: { about: 'chains that can be swapped', load: async () => (await import('./catalog.ts')).chains },
  tokens: { about: 'tokens that can be swapped', load: async () => (await import('./catalog.ts')).tokens },
  wallet: {
    about: 'create, import, list, show, remove, export',
    load: async () => (await import('./wallet.ts')).wallet,
  },
  config: { about: 'list, get, set, unset', load: async () => (await import('./config.ts')).config },
  mcp: {
    about: 'serve these to language models, within limits',
    load: async () => (await import('./mcp.ts')).mcp,
  },
  faucet: {
    about: 'test tokens on a network of npm start',
    load: async () => (await import('./wallet.ts')).faucet,
  },
  tour: {
    about: 'two minutes that show how it works, on a network of npm start',
    load: async () => (await import('./tour.ts')).tour,
  },
  completion: {
    about: 'the completion of your shell: bash, zsh or fish',
    load: async () => (await import('../completion.ts')).completionOf(commands),
  },
}
