import { useEffect, useState } from 'preact/hooks'
import { go, hrefOf } from '../route.ts'
import { readSearch } from './search.ts'

/** Shows what the URL searches for, until something else is typed. */
export function SearchBox({ searched }: { searched: string }) {
  const [text, setText] = useState(searched)
  const [isUnread, setUnread] = useState(false)
  useEffect(() => setText(searched), [searched])
  const submit = (event: Event) => {
    event.preventDefault()
    const search = readSearch(text)
    setUnread(!search && text.trim() !== '')
    if (search) go(hrefOf('explore', { [search.kind]: search.value }))
    else if (text.trim() === '') go(hrefOf('explore'))
  }
  return (
    <search>
      <form class="search" onSubmit={submit}>
        <label class="field">
          <span>Swap id, transaction or wallet</span>
          <input
            class="mono"
            autoComplete="off"
            spellcheck={false}
            value={text}
            aria-invalid={isUnread}
            aria-describedby="search-hint"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary">
          Find
        </button>
      </form>
      <p class="hint" id="search-hint" role="status">
        {isUnread &&
          'That is neither a swap id (swp_…), nor a transaction hash, nor an address. Paste it whole.'}
      </p>
    </search>
  )
}
