import { Copyable } from '../parts/copyable.tsx'

/** The same refund with the command line, and the signed operation as a file. */
export function RefundCommand({ swapId, operation }: { swapId: string; operation: unknown }) {
  const file = `${swapId}.json`
  const save = () => {
    const url = URL.createObjectURL(
      new Blob([JSON.stringify(operation, null, 2)], { type: 'application/json' }),
    )
    const link = Object.assign(document.createElement('a'), { href: url, download: file })
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <>
      <p class="prose">With the command line, and the signed operation as a file:</p>
      <p class="command">
        <Copyable text={`npx geoswap refund --operation ${file}`} label="command" whole />
      </p>
      <button type="button" class="secondary" onClick={save}>
        Save {file.slice(0, 12)}….json
      </button>
    </>
  )
}
