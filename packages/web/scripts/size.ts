import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { buildWeb } from './build.ts'

/** The maximum gzipped size of the page's script. All of it is loaded at the start. */
export const MAX_SCRIPT_BYTES = 150_000

export async function measureWeb(): Promise<{ script: number; style: number }> {
  const folder = join(tmpdir(), `geoswap-web-${process.pid}`)
  try {
    const { script, style } = await buildWeb(folder)
    const weigh = async (path: string) => gzipSync(await readFile(join(folder, path)), { level: 9 }).length
    return { script: await weigh(script), style: await weigh(style) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { script, style } = await measureWeb()
  console.log(`web, gzipped: script ${script} bytes (at most ${MAX_SCRIPT_BYTES}), style ${style}`)
  if (script > MAX_SCRIPT_BYTES) process.exitCode = 1
}
