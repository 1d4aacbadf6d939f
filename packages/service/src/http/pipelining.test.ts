import { connect } from 'node:net'
import { endpoints } from '@geoswap/wire'
import { afterAll, expect, test, vi } from 'vitest'
import { createTestServer } from '../../test/support/http-server.ts'
import { createConnectionSlots } from '../stages/status/connection-slots.ts'
import { createStatusStreams } from '../stages/status/streams.ts'
import { createStatusReads } from '../stages/status/wait.ts'
import { listen } from './server.ts'

const slots = createConnectionSlots()
const pending = { ...endpoints.status.example.reply, status: 'pending' as const }
const statusReads = createStatusReads({
  slots,
  readStatuses: async (wanted) => wanted.map(() => pending),
  findEnded: async () => [],
  onError: vi.fn(),
})
const statusStreams = createStatusStreams({
  slots,
  readEvents: async (keys) => keys.map(() => ({ events: [], lastSeq: 0, ended: false })),
  findMoved: async () => [],
  onError: vi.fn(),
})
const paying = new Set<() => void>()
const { app, key } = await createTestServer({
  statusReads,
  statusStreams,
  x402: { account: 'test', callsPerMinute: 60 },
  handlers: {
    x402: (_caller, _call, onHeld) =>
      new Promise(() => {
        const hold = () => {}
        paying.add(hold)
        onHeld(() => void paying.delete(hold))
      }),
  },
})
const url = new URL(await listen(app, { port: 0, host: '127.0.0.1' }))
afterAll(() => app.close())

test.each(['/swap/status/swp_1', '/swap/status/swp_1/events'])(
  'twenty pipelined requests of %s are all released when the client disconnects',
  async (path) => {
    const request = `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`
    const socket = connect(Number(url.port), url.hostname, () => socket.write(request.repeat(20)))
    await vi.waitFor(() => expect(slots.count()).toBe(20), 10_000)

    socket.destroy()

    await vi.waitFor(() => expect(slots.count()).toBe(0), 10_000)
  },
)

test('pipelined payments are all released when the client disconnects', async () => {
  const path = `/swap/x402?${new URLSearchParams(endpoints.x402.example.query)}`
  const request = `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
  const socket = connect(Number(url.port), url.hostname, () => socket.write(request.repeat(9)))
  await vi.waitFor(() => expect(paying.size).toBe(9), 10_000)

  socket.destroy()

  await vi.waitFor(() => expect(paying.size).toBe(0), 10_000)
})
