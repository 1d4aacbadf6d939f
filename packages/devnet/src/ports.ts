import { createServer, type Server } from 'node:net'

// Below Linux's ephemeral range (32768 and up), so that no outgoing connection can use the port of a process
// that is being restarted.
const LOWEST_PORT = 20_000
const HIGHEST_PORT = 32_767

export type HeldPort = { port: number; release(): Promise<void> }

/** Listens on the port so that nobody else can take it. Undefined if it is taken. */
export async function holdPort(port: number): Promise<HeldPort | undefined> {
  const server = createServer((socket) => socket.destroy())
  if (!(await listens(server, port))) return undefined
  return { port, release: () => new Promise((resolve) => server.close(() => resolve())) }
}

const found = new Set<number>()

/** Holds a free port that this process has not returned before. */
export async function takeFreePort(): Promise<HeldPort> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = LOWEST_PORT + Math.floor(Math.random() * (HIGHEST_PORT - LOWEST_PORT + 1))
    const held = found.has(port) ? undefined : await holdPort(port)
    if (!held) continue
    found.add(port)
    return held
  }
  throw new Error('Found no free port on 127.0.0.1')
}

export async function findFreePort(): Promise<number> {
  const { port, release } = await takeFreePort()
  await release()
  return port
}

function listens(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('listening', () => resolve(true))
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') return resolve(false)
      reject(error)
    })
    server.listen(port, '127.0.0.1')
  })
}
