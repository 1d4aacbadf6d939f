import { openMcpContext } from '@geoswap/mcp/open-context'
import { DEFAULT_PORT, serve } from '@geoswap/mcp/serve'
import { UserError } from '@geoswap/wallet/errors'
import { defineCommand } from '../command.ts'

export const mcp = defineCommand({
  usage: '[--http [PORT]] [options]',
  about: `Serves quotes, swaps and balances to language models by the Model Context Protocol: over stdin and
stdout, or with --http on this machine at http://127.0.0.1:${DEFAULT_PORT}/mcp for clients with the token.
The wallets are unlocked once, at the start, with GEOSWAP_PASSPHRASE or a prompt at the terminal.
Keys stay in this process.

Each limit can also be set in the environment (--max-swap-usd: GEOSWAP_MCP_MAX_SWAP_USD) or in the
configuration (geoswap config set mcp.maxSwapUsd 50); flags take precedence. GEOSWAP_MCP_TOKEN is the
token of --http; without it a new one is created at each start.`,
  words: [0, 1],
  options: {
    http: {
      type: 'boolean',
      about: `streamable HTTP, on PORT or ${DEFAULT_PORT}, instead of stdin and stdout`,
    },
    'read-only': { type: 'boolean', about: 'no execute_swap: no wallet is unlocked' },
    wallets: {
      type: 'string',
      value: 'NAMES',
      about: 'wallets that may pay, comma-separated; default: the usual ones',
    },
    recipients: {
      type: 'string',
      value: 'LIST',
      about: 'recipients allowed besides own wallets: addresses, comma-separated',
    },
    'max-swap-usd': { type: 'string', value: 'N', about: 'the largest value of one swap; default 100' },
    'max-day-usd': {
      type: 'string',
      value: 'N',
      about: 'the largest value of all swaps in 24 hours; default 1000',
    },
    'confirm-above-usd': {
      type: 'string',
      value: 'N',
      about: 'confirm swaps above this value; default 25',
    },
    'allow-unknown-value': {
      type: 'boolean',
      about: 'allow tokens without a USD price; always confirmed',
    },
    'wait-seconds': {
      type: 'string',
      value: 'N',
      about: 'how long execute_swap waits for the end; default 45',
    },
  },
  examples: ['', '--max-swap-usd 50 --confirm-above-usd 0', '--http 8321 --wallets bot'],

  async run(context, { values, words: [port] }) {
    if (port !== undefined && !values.http) throw new UserError('USAGE', 'A port is for --http.')
    const mcp = await openMcpContext(context, {
      isReadOnly: values['read-only'] ?? false,
      flags: {
        wallets: values.wallets,
        recipients: values.recipients,
        waitSeconds: values['wait-seconds'],
        maxSwapUsd: values['max-swap-usd'],
        maxDayUsd: values['max-day-usd'],
        confirmAboveUsd: values['confirm-above-usd'],
        allowUnknownValue: values['allow-unknown-value'] ? 'true' : undefined,
      },
    })
    await serve(mcp, values.http ? { kind: 'http', port } : { kind: 'stdio' })
    return 0
  },
})
