export type JsonSchema = { type: 'object'; properties: Record<string, object>; required?: string[] }

/** The text is for people, the rest for programs. */
export type Answer =
  | { text: string; value: Record<string, unknown> }
  | { text: string; error: { code: string; message: string; advice?: string } }

type RunOptions = { signal?: AbortSignal | undefined; onProgress?: ((doing: string) => void) | undefined }

export type AgentTool = {
  name: string
  title: string
  description: string
  hints: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean }
  input: JsonSchema
  output: JsonSchema
  /** Whether a person has to approve this call: it confirms a swap that the limits do not allow unasked. */
  needsApproval(input: unknown): boolean
  /** It never throws: a refusal is an answer. */
  run(input: unknown, options?: RunOptions): Promise<Answer>
}

/** Reads and swaps of some wallets, within the limits of who runs it. */
export type Agent = {
  tools: readonly AgentTool[]
  /** For the model that calls them. */
  instructions: string
  /** For the person who approves a call with this `confirmationToken`; undefined if it is of no use. */
  questionOf(confirmationToken: string): string | undefined
}

/** Asks a person to confirm one swap. */
export type Confirm = (question: string) => Promise<boolean>

/** The answer in one object, for frameworks that pass on data. */
export function dataOf(answer: Answer): Record<string, unknown> {
  return 'value' in answer ? answer.value : { error: answer.error }
}
