import { GeoswapError } from '@geoswap/sdk'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { Context } from '../context.ts'
import { explain, knownOf } from '../explain.ts'
import { inTheirWords, plainDeep } from '../plain.ts'
import { idsOf } from '../swap/claim.ts'

/** What the command line advises is about flags; here a tool is called again. */
const ADVICE: Readonly<Record<string, string>> = {
  SWAP_IN_FLIGHT: 'Follow it with swap_status; do not start another one.',
  SIGNATURE_OPEN: 'Nothing was signed. Try again after that time, if it is still wanted.',
  SWAP_ENDED: 'Call execute_swap again only if another one is wanted.',
  SWAP_TIMEOUT: 'It goes on. Follow it with swap_status.',
  SUBMISSION_UNKNOWN: 'Call execute_swap with the same order again: that is at most one swap.',
  HIGH_PRICE_IMPACT:
    'The price has changed since it was looked at. Quote again; another amount may lose less.',
  NOT_SUBMITTED: 'There is no swap. It can be started again.',
  INPUT_LIMIT: 'Nothing was signed. Quote again, and ask the user about the new price.',
  OUTPUT_LIMIT: 'Nothing was signed. Quote again, and ask the user about the new price.',
}

/** Where the command line names a flag, a tool has a parameter. */
function inTools(text: string): string {
  const names: Record<string, string> = {
    to: 'recipient',
    slippage: 'slippageBps',
    'max-eta': 'maxEtaSeconds',
  }
  return text.replace(/--(amount|receive|to|slippage|max-eta)\b/g, (_, flag: string) => names[flag] ?? flag)
}

/** Whether the message is the service's own. Faults of the connection are told in words of ours. */
function isTheirs(error: unknown): boolean {
  return error instanceof GeoswapError && error.status !== 0 && error.code !== 'UNEXPECTED_REPLY'
}

export type ToolError = { code: string; message: string; advice?: string } & Record<string, unknown>

/** Undefined when nobody foresaw it. */
export function toToolError(
  error: unknown,
  context: Pick<Context, 'settings' | 'seen'>,
): ToolError | undefined {
  const told = explain(error, () => knownOf(context))
  if (!told) return undefined
  const { code, details } = told
  const message = isTheirs(error) ? inTheirWords(told.message) : inTools(told.message)
  const { attempt } = context.seen
  const advice = ADVICE[code] ?? (told.advice && inTools(told.advice))
  const isOpen = attempt !== undefined && attempt.stage !== 'ended'
  return { code, message, ...(advice !== undefined && { advice }), ...details, ...(isOpen && idsOf(attempt)) }
}

/** For people in the first text, for programs in the second: what a tool promises to return it does not here. */
export function toErrorResult(error: ToolError): CallToolResult {
  const shown = plainDeep(error)
  const { code, message, advice } = shown
  return {
    isError: true,
    content: [
      { type: 'text', text: [`${code}: ${message}`, advice].filter(Boolean).join(' ') },
      { type: 'text', text: JSON.stringify({ error: shown }) },
    ],
  }
}
