import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const ENTRY = fileURLToPath(new URL('../src/index.ts', import.meta.url))

type Wanted = { minify: boolean; format?: 'esm' | 'cjs' }

/** Bundles the SDK into one module. viem and kit stay external: the application provides them. */
export async function bundle({ minify, format = 'esm' }: Wanted): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    minify,
    write: false,
    format,
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none',
    external: ['viem', '@solana/kit'],
  })
  const [file] = outputFiles
  if (!file) throw new Error('The bundler wrote nothing')
  return file.text
}

export const MAX_GZIP_BYTES = 15_500

export async function measureBundle(): Promise<{ bytes: number; gzipBytes: number }> {
  const text = await bundle({ minify: true })
  return { bytes: Buffer.byteLength(text), gzipBytes: gzipSync(text, { level: 9 }).length }
}
