import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentRuntime, type IDatabaseAdapter, type Memory, type UUID } from '@elizaos/core'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { Client } from '@modelcontextprotocol/client'
import { fromJsonSchema, InMemoryTransport, McpServer } from '@modelcontextprotocol/server'
import { Agent as OpenAiAgent, Runner, RunState, tool } from '@openai/agents'
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from '@openai/agents/testing'
import { generateText, isStepCount, jsonSchema, type ModelMessage } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { toAiTools } from '../../packages/agent/src/ai.ts'
import { toElizaPlugin } from '../../packages/agent/src/eliza.ts'
import { type Agent, openAgent } from '../../packages/agent/src/index.ts'
import { toLangchainTools } from '../../packages/agent/src/langchain.ts'
import { registerTools } from '../../packages/agent/src/mcp.ts'
import { toOpenAiTools } from '../../packages/agent/src/openai.ts'
import { createCliHome } from '../cli.ts'

const cli = createCliHome(inject('local'))
const home = mkdtempSync(join(tmpdir(), 'geoswap-agents-'))
let agent: Agent
beforeAll(async () => {
  const limits = { maxSwapUsd: '50', confirmAboveUsd: '15', waitSeconds: '60' }
  agent = await openAgent({ home, networkHome: cli.env.GEOSWAP_HOME, limits })
})
afterAll(() => {
  cli.remove()
  rmSync(home, { recursive: true })
})

/** A swap within the limits, one above the largest value, and one that a person has to confirm. */
const orderOf = (amount: string) => ({ from: 'alpha:USDC', to: 'beta:USDC', amount })
const [small, large, middle] = [orderOf('10'), orderOf('51'), orderOf('16')]
const settled = { outcome: 'settled', swap: { pay: { amount: '10', symbol: 'USDC' } } }
const refused = { error: { code: 'SWAP_CAP' } }

type Told = { outcome?: string; confirmation?: { confirmationToken: string } }

/** As a model would: it swaps, confirms if it has to, and then ends. Undefined is the end. */
function nextCall(order: object, told: Told | undefined): object | undefined {
  if (told === undefined) return order
  const token = told.confirmation?.confirmationToken
  return token === undefined ? undefined : { ...order, confirmationToken: token }
}

/** The tokens that a person is shown the question of. */
const questionOf = (input: unknown) =>
  agent.questionOf((input as { confirmationToken: string }).confirmationToken)

const asksForMiddle = expect.stringMatching(/^Swap 16 USDC on alpha .* At most 16 USDC on alpha is paid/)

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

function aiModel(order: object) {
  let count = 0
  return new MockLanguageModelV4({
    async doGenerate({ prompt }) {
      const outputs = prompt.flatMap((message) => (message.role === 'tool' ? message.content : []))
      const last = outputs.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])).at(-1)
      const told = last?.type === 'json' ? (last.value as Told) : undefined
      const input = last && !told ? undefined : nextCall(order, told)
      count += 1
      return {
        content: input
          ? [
              {
                ...{ type: 'tool-call', toolCallId: `call_${count}`, toolName: 'execute_swap' },
                input: JSON.stringify(input),
              } as const,
            ]
          : [{ type: 'text', text: 'Done.' }],
        finishReason: { unified: input ? 'tool-calls' : 'stop', raw: undefined },
        ...{ usage, warnings: [] },
      }
    },
  })
}

async function generate(model: MockLanguageModelV4, messages: ModelMessage[]) {
  const tools = toAiTools(agent, { jsonSchema })
  const { instructions } = agent
  const run = await generateText({ model, tools, instructions, messages, stopWhen: isStepCount(5) })
  const outputs = run.steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output))
  return { run, outputs }
}

const said: ModelMessage[] = [{ role: 'user', content: 'Swap.' }]

test('generateText of ai swaps within a limit, and a model is told of a refusal', async () => {
  const swapped = await generate(aiModel(small), said)
  const tooLarge = await generate(aiModel(large), said)

  expect([swapped.outputs, swapped.run.text]).toMatchObject([[settled], 'Done.'])
  expect(tooLarge.outputs).toMatchObject([refused])
})

test.each([true, false])(
  'generateText of ai stops before a swap to be confirmed; approved: %s',
  async (approved) => {
    const model = aiModel(middle)
    const { run, outputs } = await generate(model, said)
    const [request] = run.content.filter((part) => part.type === 'tool-approval-request')
    const asked = questionOf(request?.toolCall.input)

    const answer = {
      type: 'tool-approval-response',
      approvalId: request?.approvalId ?? '',
      approved,
    } as const
    const messages: ModelMessage[] = [...said, ...run.response.messages, { role: 'tool', content: [answer] }]
    const next = await generate(model, messages)

    expect(outputs).toMatchObject([{ outcome: 'confirmation_required' }])
    expect(asked).toEqual(asksForMiddle)
    const history = JSON.stringify(model.doGenerateCalls.at(-1)?.prompt)
    expect(history.includes('"outcome":"settled"')).toBe(approved)
    expect(next.run.text).toBe('Done.')
  },
)

test('tools of @langchain/core swap within a limit and refuse above it', async () => {
  const tools = toLangchainTools(agent, { DynamicStructuredTool })
  const execute = tools.find(({ name }) => name === 'execute_swap') as (typeof tools)[number]

  const swapped = await execute.invoke({ ...small })
  const call = { type: 'tool_call', id: 'call_1', name: 'execute_swap', args: large } as const
  const message = await execute.invoke(call)

  expect(JSON.parse(String(swapped))).toMatchObject(settled)
  expect(JSON.parse(String((message as { content: string }).content))).toMatchObject(refused)
})

function openAiAgent(order: object): OpenAiAgent {
  const step = modelResponder(({ request, index }) => {
    const items = typeof request.input === 'string' ? [] : request.input
    const results = items.flatMap((item) => (item.type === 'function_call_result' ? [item.output] : []))
    const last = results.at(-1)
    const input = nextCall(order, last === undefined ? undefined : readOutput(last))
    return input
      ? [functionCall('execute_swap', { ...input }, { callId: `call_${index}` })]
      : [assistantMessage('Done.')]
  })
  const model = new ScriptedModel([step, step, step])
  return new OpenAiAgent({
    ...{ name: 'swapper', instructions: agent.instructions, model },
    tools: toOpenAiTools(agent, { tool }),
  })
}

/** A rejected call has words in the place of its result. */
function readOutput(output: unknown): Told {
  const { text } = (typeof output === 'string' ? { text: output } : output) as { text: string }
  return text.startsWith('{') ? JSON.parse(text) : {}
}

const runner = new Runner({ tracingDisabled: true })
const outputsOf = ({ newItems }: { newItems: readonly { type: string; rawItem?: unknown }[] }) =>
  newItems
    .filter(({ type }) => type === 'tool_call_output_item')
    .map(({ rawItem }) => readOutput((rawItem as { output: unknown }).output))

test('a run of @openai/agents swaps within a limit, and a model is told of a refusal', async () => {
  const swapped = await runner.run(openAiAgent(small), 'Swap.')
  const tooLarge = await runner.run(openAiAgent(large), 'Swap.')

  expect([outputsOf(swapped), swapped.finalOutput]).toMatchObject([[settled], 'Done.'])
  expect(outputsOf(tooLarge)).toMatchObject([refused])
})

test.each([true, false])(
  'a run of @openai/agents is interrupted by a swap to be confirmed; approved: %s',
  async (approved) => {
    const swapper = openAiAgent(middle)
    const first = await runner.run(swapper, 'Swap.')
    const [interruption] = first.interruptions
    const asked = questionOf(JSON.parse(interruption?.arguments ?? '{}'))

    const state = await RunState.fromString(swapper, first.state.toString())
    for (const each of state.getInterruptions()) approved ? state.approve(each) : state.reject(each)
    const second = await runner.run(swapper, state)

    expect(first.interruptions.map(({ name }) => name)).toEqual(['execute_swap'])
    expect(asked).toEqual(asksForMiddle)
    expect(outputsOf(second).some(({ outcome }) => outcome === 'settled')).toBe(approved)
    expect(second.finalOutput).toBe('Done.')
  },
)

const ID: UUID = '00000000-0000-4000-8000-000000000001'

test('actions of a runtime of @elizaos/core swap within a limit and refuse above it', async () => {
  const kept: Memory[] = []
  const adapter = { createMemory: async (memory: Memory) => kept.push(memory), log: async () => {} }
  const character = { name: 'swapper', bio: 'swaps' }
  const runtime = new AgentRuntime({ character, adapter: adapter as object as IDatabaseAdapter })
  await runtime.registerPlugin(toElizaPlugin(agent))
  const orders = [small, large]
  runtime.registerModel('OBJECT_SMALL', async () => orders.shift(), 'test')
  const said: (string | undefined)[] = []
  const memoryOf = (id: UUID, content: Memory['content']): Memory => ({
    id,
    entityId: ID,
    roomId: ID,
    content,
  })

  for (const text of ['Swap 10 USDC.', 'Swap 51 USDC.']) {
    const response = memoryOf(ID, { text: 'I swap.', actions: ['EXECUTE_SWAP'] })
    await runtime.processActions(memoryOf(ID, { text }), [response], undefined, async (content) => {
      said.push(content.text)
      return []
    })
  }

  expect(kept.map(({ content }) => content['actionResult'])).toMatchObject([
    { success: true, data: settled },
    { success: false, data: refused },
  ])
  expect(said).toEqual([expect.stringContaining('settled'), expect.stringMatching(/^SWAP_CAP: /)])
})

test('a client of the MCP packages swaps within a limit and is refused above it', async () => {
  const server = new McpServer({ name: 'swapper', version: '1' })
  registerTools(agent, server, { fromJsonSchema })
  const client = new Client({ name: 'test', version: '1' })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(ours), client.connect(theirs)])

  const { tools } = await client.listTools()
  const swapped = await client.callTool({ name: 'execute_swap', arguments: small })
  const tooLarge = await client.callTool({ name: 'execute_swap', arguments: large })
  await client.close()

  expect(tools.map(({ name }) => name)).toEqual(agent.tools.map(({ name }) => name))
  expect(swapped.structuredContent).toMatchObject(settled)
  expect(tooLarge).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^SWAP_CAP: /) }, {}],
  })
})
