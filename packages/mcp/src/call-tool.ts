import type { Context } from '@geoswap/wallet/context'
import { explain, isFromService, knownOf } from '@geoswap/wallet/explain'
import { plain, plainDeep, quoteService } from '@geoswap/wallet/plain'
import { swapIdOf } from '@geoswap/wallet/store/journal'
import { idsOf } from '@geoswap/wallet/swap/claim'
import { findNearest } from '@geoswap/wire/nearest'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { type Call, type McpContext, openCall } from './mcp-context.ts'
import type { AnyTool } from './tools.ts'

/** The text is for people, the rest for programs. */
export type Answer = { text: string; value: Record<string, unknown> } | Refusal

/** Runs a tool. Returns its result with a short text, or a refusal with advice; it never throws. */
export async function callTool(mcp: McpContext, tool: AnyTool, input: unknown, asked: Call): Promise<Answer> {
  const { ask } = asked
  const call = { ...asked, ask: ask && ((question: string) => ask(plain(question))) }
  const wrong = whatIsWrong(tool.input, input)
  if (wrong !== undefined) return toRefusal({ code: 'USAGE', message: wrong })
  const opened = openCall(mcp, call)
  try {
    const result = plainDeep(await tool.run(opened, input, call))
    if (!Value.Check(tool.output, result)) throw new TypeError(`${tool.name} returned something else`)
    return { text: tool.describe(result).join('\n'), value: { ...(result as object) } }
  } catch (error) {
    const told = toToolError(error, opened.context)
    if (told) return toRefusal(told)
    mcp.log(error instanceof Error ? `fault: ${error.stack}` : `fault: ${error}`)
    return toRefusal(toFault(opened.context))
  }
}

const MOST_NAMED = 40

type Fields = { properties?: Readonly<Record<string, { enum?: readonly string[] }>> }
type Fault = ReturnType<typeof Value.Errors>[number]

/** The arguments of a call that the schema refuses, in sentences; an unknown one with the nearest known name. */
export function whatIsWrong(schema: TSchema, value: unknown): string | undefined {
  if (Value.Check(schema, value)) return undefined
  const { properties = {} } = schema as Fields
  return Value.Errors(schema, value)
    .flatMap((fault) => tell(fault, properties))
    .join(' ')
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
}

function tell(fault: Fault, known: NonNullable<Fields['properties']>): string[] {
  const name = fault.instancePath.slice(1)
  switch (fault.keyword) {
    case 'additionalProperties':
      return fault.params.additionalProperties.map((each) => refuse(each, Object.keys(known)))
    case 'required':
      return fault.params.requiredProperties.map((each) => `${each} is missing.`)
    case 'type':
      return [`${name} must be ${KINDS[String(fault.params.type)] ?? fault.params.type}.`]
    case 'minimum':
      return [`${name} must be at least ${fault.params.limit}.`]
    case 'maximum':
      return [`${name} must be at most ${fault.params.limit}.`]
    case 'enum':
      return [`${name} must be one of ${known[name]?.enum?.join(', ')}.`]
    // The schema of an unknown argument, which is told already.
    case 'boolean':
      return []
    default:
      return [`${name} ${fault.message}.`]
  }
}

function refuse(name: string, known: readonly string[]): string {
  const nearest = findNearest(name, known)
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  const all = known.length === 0 ? 'It has none.' : `It has ${known.join(', ')}.`
  return `This tool has no argument ${JSON.stringify(name.slice(0, MOST_NAMED))}.${hint} ${all}`
}

/** The advice of the CLI names flags; these name the tools instead. */
const ADVICE: Readonly<Record<string, string>> = {
  SWAP_IN_FLIGHT: 'Follow it with swap_status; do not start another swap.',
  SIGNATURE_OPEN: 'Nothing was signed. Try again after that time, if the user still wants it.',
  SWAP_ENDED: 'Call execute_swap again only if the user wants another swap.',
  SWAP_TIMEOUT: 'It continues. Follow it with swap_status.',
  SUBMISSION_UNKNOWN: 'Call execute_swap with the same order again: it creates at most one swap.',
  HIGH_PRICE_IMPACT: 'The price has changed since the last quote. Quote again; another amount may lose less.',
  NOT_SUBMITTED: 'There is no swap. It can be started again.',
  INPUT_LIMIT: 'Nothing was signed. Quote again, and ask the user about the new price.',
  OUTPUT_LIMIT: 'Nothing was signed. Quote again, and ask the user about the new price.',
}

/** Replaces the flags of the CLI with parameters of the tools. */
function inTools(text: string): string {
  const names: Record<string, string> = {
    to: 'recipient',
    slippage: 'slippageBps',
    'max-eta': 'maxEtaSeconds',
    'external-id': 'externalId',
  }
  return text.replace(
    /--(amount|receive|to|slippage|max-eta|external-id)\b/g,
    (_, flag: string) => names[flag] ?? flag,
  )
}

type ToolError = { code: string; message: string; advice?: string } & Record<string, unknown>

/** Undefined for unexpected errors. */
export function toToolError(
  error: unknown,
  context: Pick<Context, 'settings' | 'seen'>,
): ToolError | undefined {
  const told = explain(error, () => knownOf(context))
  if (!told) return undefined
  const { code, details } = told
  const message = isFromService(error) ? quoteService(told.message) : inTools(told.message)
  const advice = ADVICE[code] ?? (told.advice && inTools(told.advice))
  return { code, message, advice, ...details, ...idsLeft(context) }
}

/** Of an unexpected error, which the log describes. */
export function toFault(context: Pick<Context, 'seen'>): ToolError {
  const message = 'Internal error of geoswap.'
  return { code: 'INTERNAL', message, advice: 'See the log of the server.', ...idsLeft(context) }
}

/** An attempt that ended without a swap left nothing. */
function idsLeft({ seen: { attempt } }: Pick<Context, 'seen'>) {
  const isOver = attempt?.stage === 'ended' && swapIdOf(attempt) === undefined
  return idsOf(isOver ? undefined : attempt)
}

export type Refusal = { text: string; error: ToolError }

/** The text is for people, the error for programs. */
export function toRefusal(told: ToolError): Refusal {
  const error = plainDeep(told)
  const { code, message, advice } = error
  return { text: [`${code}: ${message}`, advice].filter(Boolean).join(' '), error }
}
