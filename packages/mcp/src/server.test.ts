import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { expect, test } from 'vitest'
import type { McpContext } from './mcp-context.ts'
import { toRules } from './rules.ts'
import { createMcpServer } from './server.ts'

async function listTools(isReadOnly: boolean) {
  const rules = toRules({}, [], () => undefined)
  const server = createMcpServer({ isReadOnly, rules } as McpContext)
  const client = new Client({ name: 'test', version: '1' })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(ours), client.connect(theirs)])
  const { tools } = await client.listTools()
  await client.close()
  return tools
}

test('exactly two tools are marked as spending, and all declare their input and output', async () => {
  const tools = await listTools(false)

  expect(tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name)).toEqual([
    ...['execute_swap', 'pay_x402'],
  ])
  expect(tools.find(({ name }) => name === 'execute_swap')?.description).toContain('waits up to 45 s')
  for (const { inputSchema, outputSchema, description } of tools)
    expect([inputSchema.type, outputSchema?.type, description]).toEqual([
      'object',
      'object',
      expect.any(String),
    ])
})

const READ = [true, false, true]

test.each([
  ...['list_chains', 'list_tokens', 'get_balance', 'quote_swap', 'swap_status', 'swap_history'].map(
    (name) => [name, READ] as const,
  ),
  ['execute_swap', [false, true, false]] as const,
  ['deposit_address', [false, false, false]] as const,
  ['pay_x402', [false, true, false]] as const,
])('%s tells clients whether it only reads, spends, and may be repeated: %j', async (name, hints) => {
  const tool = (await listTools(false)).find((each) => each.name === name)
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool?.annotations ?? {}

  expect([readOnlyHint, destructiveHint, idempotentHint]).toEqual(hints)
  expect(openWorldHint).toBe(true)
})

test('a read-only server has no tool that spends', async () => {
  const tools = await listTools(true)

  expect(tools).toHaveLength(6)
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
})
