import { homedir } from 'node:os'
import { join } from 'node:path'
import { openMcpContext } from '@geoswap/mcp/open-context'
import { createContext, createInterrupts } from '@geoswap/wallet/context'
import { createTerminal } from '@geoswap/wallet/terminal'
import type { Agent, Confirm } from './agent.ts'
import { createAgent } from './create-agent.ts'

export type { Agent, AgentTool, Answer, Confirm, JsonSchema } from './agent.ts'

/** In words, as the flags of `geoswap mcp`: dollars such as `2.50`, lists with commas. */
export type Limits = {
  maxSwapUsd?: string | undefined
  maxDayUsd?: string | undefined
  confirmAboveUsd?: string | undefined
  recipients?: string | undefined
  wallets?: string | undefined
  allowUnknownValue?: 'true' | 'false' | undefined
  waitSeconds?: string | undefined
}

export type AgentOptions = {
  /** The folder of settings, wallets and journal that the command line has too. */
  home?: string | undefined
  /** The folder in which `npm start` describes its network. */
  networkHome?: string | undefined
  /** The service and the nodes by chain; default: those of the settings. */
  url?: string | undefined
  apiKey?: string | undefined
  rpcUrls?: Readonly<Record<number, string>> | undefined
  /** Opens the wallets; without it a person is asked at the terminal. */
  passphrase?: string | undefined
  isReadOnly?: boolean | undefined
  limits?: Limits | undefined
  /** Asks a person. Without it a swap above a limit is confirmed by the framework's approval, or by a token. */
  confirm?: Confirm | undefined
  log?: ((line: string) => void) | undefined
}

/** Reads the limits and opens the wallets, so that errors in either come first. */
export async function openAgent(options: AgentOptions = {}): Promise<Agent> {
  const { url, apiKey, rpcUrls, passphrase, networkHome, limits = {}, confirm, log = () => {} } = options
  const terminal = { ...createTerminal(process, { json: true }), note: log }
  const context = createContext(
    { terminal, interrupts: createInterrupts(log) },
    {
      home: options.home ?? join(homedir(), '.config', 'geoswap'),
      workingFolder: process.cwd(),
      given: { url, apiKey, rpcUrls },
      networkHome,
      passphrase,
      gasKey: undefined,
      mcp: {},
    },
  )
  const isReadOnly = options.isReadOnly ?? false
  const mcp = await openMcpContext(context, { isReadOnly, flags: limits, name: 'geoswap' })
  return createAgent(mcp, confirm)
}
