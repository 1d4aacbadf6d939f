import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const SOURCES = fileURLToPath(new URL('../src', import.meta.url))
const DIST = fileURLToPath(new URL('../dist', import.meta.url))

/** The page's files, by their paths in its folder. */
export type Built = { script: string; style: string; icon: string }

/**
 * Builds the page into a folder, which is emptied first: index.html, and files with their hash in their name.
 * See docs/decisions.md#one-bundle-for-the-page.
 */
export async function buildWeb(folder: string): Promise<Built> {
  await rm(folder, { recursive: true, force: true })
  const { outputFiles } = await build({
    entryPoints: ['main.tsx', 'style.css', 'icon.svg'].map((file) => join(SOURCES, file)),
    outdir: folder,
    entryNames: 'assets/[name]-[hash]',
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'copy' },
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  for (const { path, contents } of outputFiles) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, contents)
  }
  const find = (ending: string) => {
    const file = outputFiles.find(({ path }) => path.endsWith(ending))
    if (!file) throw new Error(`The bundler wrote no ${ending}`)
    return relative(folder, file.path).replaceAll('\\', '/')
  }
  const built = { script: find('.js'), style: find('.css'), icon: find('.svg') }
  await writeFile(join(folder, 'index.html'), await toHtml(built))
  return built
}

async function toHtml(built: Built): Promise<string> {
  const template = await readFile(join(SOURCES, 'index.html'), 'utf8')
  return template.replace(/\{(script|style|icon)\}/g, (_, name: keyof Built) => built[name])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildWeb(DIST)
  console.log(`wrote ${relative(process.cwd(), DIST)}`)
}
