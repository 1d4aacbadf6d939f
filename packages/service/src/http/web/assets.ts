import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** A file of the page. */
export type Asset = { type: string; etag: string; body: Buffer; gzip: Buffer }

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * All files of a folder by their relative path, such as `assets/main-4F1C.js`. They are few and small, and kept in
 * memory.
 */
export function readAssets(folder: string): Map<string, Asset> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => TYPES[extname(file)] !== undefined)
  return new Map(files.map((file) => [file, toAsset(file, readFileSync(join(folder, file)))]))
}

export function toAsset(file: string, body: Buffer): Asset {
  const etag = `"${hash('sha256', body, 'hex').slice(0, 32)}"`
  return { type: TYPES[extname(file)] ?? '', etag, body, gzip: gzipSync(body, { level: 9 }) }
}
