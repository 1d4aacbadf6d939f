import { type Agent, type AgentTool, dataOf } from './agent.ts'

type Schema<Self> = { optional(): Self; describe(text: string): Self }

/** `z` of the zod that AgentKit has, which is version 3. */
type Zod<Field, Fields> = {
  string(): Field
  number(): Field
  enum(values: [string, ...string[]]): Field
  object(fields: Record<string, Field>): { passthrough(): Fields }
}

type Action<Fields> = {
  name: string
  description: string
  schema: Fields
  /** With a second parameter, AgentKit would pass its own wallet. */
  invoke(given: unknown): Promise<string>
}

type AgentKit<Field, Fields, Provider> = {
  customActionProvider(actions: Action<Fields>[]): Provider
  z: Zod<Field, Fields>
}

type Property = { type?: string; enum?: [string, ...string[]]; description?: string }

/**
 * A provider of actions for AgentKit, which answer in JSON. It swaps from the wallets of the agent, not from that of
 * AgentKit. A refusal is an answer with `error`; unknown arguments are refused by the tool itself.
 */
export function toAgentkitProvider<Field extends Schema<Field>, Fields, Provider>(
  agent: Agent,
  { customActionProvider, z }: AgentKit<Field, Fields, Provider>,
): Provider {
  const toField = ({ type, enum: values, description = '' }: Property): Field => {
    const field = values ? z.enum(values) : type === 'string' ? z.string() : z.number()
    return field.describe(description)
  }
  const toSchema = ({ input: { properties, required = [] } }: AgentTool): Fields => {
    const fields = Object.entries(properties).map(([name, property]) => {
      const field = toField(property as Property)
      return [name, required.includes(name) ? field : field.optional()] as const
    })
    return z.object(Object.fromEntries(fields)).passthrough()
  }
  const actions = agent.tools.map((tool) => ({
    ...{ name: tool.name, description: tool.description, schema: toSchema(tool) },
    invoke: async (given: unknown) => JSON.stringify(dataOf(await tool.run(given))),
  }))
  return customActionProvider(actions)
}
