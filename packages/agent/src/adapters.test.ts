import { startWorld } from '@geoswap/mcp/test/world'
import { swap } from '@geoswap/wallet/test/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Agent } from './agent.ts'
import { toAgentkitProvider } from './agentkit.ts'
import { toAiTools } from './ai.ts'
import { createAgent } from './create-agent.ts'
import { toElizaPlugin } from './eliza.ts'
import { toLangchainTools } from './langchain.ts'
import { registerTools } from './mcp.ts'
import { toOpenAiTools } from './openai.ts'

let world: Awaited<ReturnType<typeof startWorld>>
let agent: Agent
beforeAll(async () => {
  world = await startWorld()
  agent = createAgent(asked())
})
afterAll(() => world.stop())

/** With rules that have every swap confirmed. */
const asked = () => ({ ...world.mcp, rules: { ...world.mcp.rules, confirmAboveCents: 0n } })
const find = (name: string) => agent.tools.find((each) => each.name === name) as Agent['tools'][number]
const order = { from: 'alpha:USDC', to: 'beta:USDC', amount: '10' }
const tokenOf = async () => {
  const answer = await find('execute_swap').run(order)
  const { confirmation } = ('value' in answer ? answer.value : {}) as { confirmation?: object }
  return (confirmation as { confirmationToken: string }).confirmationToken
}

test('an agent has the tools of the MCP server, with the same schemas', async () => {
  const { client } = await world.connect()
  const { tools } = await client.listTools()

  const ours = agent.tools.map(({ hints, input, output, name, title, description }) => ({
    ...{ name, title, description, annotations: hints, inputSchema: input, outputSchema: output },
  }))
  expect(ours).toEqual(tools)
})

test('only a call that confirms a swap needs an approval, and its question is known until it is used', async () => {
  const confirmationToken = await tokenOf()
  const { needsApproval } = find('execute_swap')

  expect([order, {}, undefined, null, 'confirmationToken'].filter(needsApproval)).toEqual([])
  expect(needsApproval({ ...order, confirmationToken })).toBe(true)
  expect(agent.questionOf(confirmationToken)).toMatch(/^Swap 10 USDC on alpha .* At most 10 USDC on alpha is/)
  expect(agent.questionOf('confirm_00')).toBeUndefined()
})

test('a person who is asked and declines leaves no swap', async () => {
  const questions: string[] = []
  const asking = createAgent(asked(), async (question) => questions.push(question) === 0)

  const answer = await asking.tools.find(({ name }) => name === 'execute_swap')?.run(order)

  expect(answer).toMatchObject({ error: { code: 'DECLINED' } })
  expect(questions).toEqual([expect.stringContaining('Swap 10 USDC on alpha')])
})

/** The part of zod and of AgentKit in use, which keeps what it is given. */
type Field = { kind: string; isOptional?: true; optional(): Field; describe(text: string): Field }
const fieldOf = (kind: string): Field => ({
  kind,
  optional: () => ({ ...fieldOf(kind), isOptional: true }),
  describe: () => fieldOf(kind),
})
const agentkit = {
  customActionProvider: <Action>(actions: Action[]) => actions,
  z: {
    string: () => fieldOf('string'),
    number: () => fieldOf('number'),
    enum: (values: readonly string[]) => fieldOf(values.join('|')),
    object: (fields: Record<string, Field>) => ({ passthrough: () => fields }),
  },
}

type Called = { chains: Promise<unknown>; wrong: Promise<unknown> }
const wrong = { chian: 'alpha' }

const adapters: Record<string, () => Called> = {
  ai() {
    const { list_chains, list_tokens } = toAiTools(agent, { jsonSchema: (schema) => schema })
    return {
      chains: list_chains?.execute({}, {}) as Promise<unknown>,
      wrong: list_tokens?.execute(wrong, {}) as Promise<unknown>,
    }
  },
  langchain() {
    class DynamicStructuredTool {
      fields
      constructor(fields: { name: string; func(input: unknown): Promise<string> }) {
        this.fields = fields
      }
    }
    const tools = toLangchainTools(agent, { DynamicStructuredTool })
    const call = async (name: string, input: object) =>
      JSON.parse((await tools.find(({ fields }) => fields.name === name)?.fields.func(input)) ?? '')
    return { chains: call('list_chains', {}), wrong: call('list_tokens', wrong) }
  },
  agentkit() {
    const { customActionProvider, z } = agentkit
    const provider = toAgentkitProvider(agent, { customActionProvider, z })
    const call = async (name: string, input: object) =>
      JSON.parse((await provider.find((action) => action.name === name)?.invoke(input)) ?? '')
    return { chains: call('list_chains', {}), wrong: call('list_tokens', wrong) }
  },
  openai() {
    const tools = toOpenAiTools(agent, { tool: (options) => options })
    const call = async (name: string, input: object) =>
      JSON.parse((await tools.find((each) => each.name === name)?.execute(input)) ?? '')
    return { chains: call('list_chains', {}), wrong: call('list_tokens', wrong) }
  },
  eliza() {
    const { actions } = toElizaPlugin(agent)
    const call = async (name: string, given: object) => {
      const planned = { [name.toLowerCase().replace('_', '')]: { ...given, _source: 'plan', _timestamp: 1 } }
      return (await actions.find((each) => each.name === name)?.handler(...elizaTurn(planned)))?.data
    }
    return { chains: call('LIST_CHAINS', {}), wrong: call('LIST_TOKENS', wrong) }
  },
  mcp() {
    const handlers = new Map<string, (input: object, call: never) => Promise<object>>()
    const server = { registerTool: (name: string, _: object, run: never) => handlers.set(name, run) }
    registerTools(agent, server, { fromJsonSchema: (schema) => schema })
    const call = (name: string, input: object) => {
      const { signal } = new AbortController()
      return handlers.get(name)?.(input, { mcpReq: { signal } } as never) as Promise<Answered>
    }
    const dataOf = ({ structuredContent, content }: Answered) =>
      structuredContent ?? JSON.parse(content[1]?.text ?? '')
    return {
      chains: call('list_chains', {}).then(dataOf),
      wrong: call('list_tokens', wrong).then(dataOf),
    }
  },
}
type Answered = { structuredContent?: object; content: { text: string }[] }

const elizaTurn = (data: Record<string, unknown>) =>
  [{ useModel: async () => undefined }, { content: { text: 'Which chains?' } }, { data }] as const

test.each(Object.keys(adapters))(
  '%s answers with data, and tells a model which argument is wrong',
  async (name) => {
    const called = adapters[name]?.()

    expect(await called?.chains).toMatchObject({ chains: [{ chain: 'alpha' }, { chain: 'beta' }] })
    expect(await called?.wrong).toMatchObject({
      error: { code: 'USAGE', message: expect.stringContaining('Did you mean chain?') },
    })
  },
)

test('an action reads its arguments from the message where no plan names them', async () => {
  const prompts: string[] = []
  const runtime = {
    useModel: async (_: string, { prompt }: { prompt: string }) => {
      prompts.push(prompt)
      return { swapId: swap.swapId }
    },
  }
  const said: string[] = []
  const status = toElizaPlugin(agent).actions.find(({ name }) => name === 'SWAP_STATUS')
  const message = { content: { text: `How is ${swap.swapId}?` } }

  const result = await status?.handler(runtime, message, { data: {} }, {}, async ({ text }) =>
    said.push(text),
  )

  expect(result).toMatchObject({ success: true, data: { swapId: swap.swapId } })
  expect(prompts).toEqual([expect.stringContaining(`The message: How is ${swap.swapId}?`)])
  expect(said).toEqual([result?.text])
})

test.each([
  [{}, false],
  [{ confirmationToken: 'confirm_00' }, true],
])('the approval of @openai/agents is asked for %j: %s', async (input, isAsked) => {
  const tools = toOpenAiTools(agent, { tool: (options) => options })
  const execute = tools.find(({ name }) => name === 'execute_swap')

  expect(await execute?.needsApproval(undefined, input)).toBe(isAsked)
  expect(execute).toMatchObject({ strict: false, parameters: { required: ['from', 'to'] } })
})

test('an action of AgentKit has the fields of its tool, and takes no wallet of AgentKit', () => {
  const { customActionProvider, z } = agentkit
  const provider = toAgentkitProvider(agent, { customActionProvider, z })
  const swap = provider.find(({ name }) => name === 'execute_swap')

  expect(swap?.invoke.length).toBe(1)
  expect(swap?.schema).toMatchObject({
    ...{ from: { kind: 'string' }, amount: { kind: 'string', isOptional: true } },
    ...{ slippageBps: { kind: 'number', isOptional: true }, method: { isOptional: true } },
  })
  expect(swap?.schema['from']).not.toHaveProperty('isOptional')
  expect(swap?.schema['method']?.kind).toContain('authorization')
})
