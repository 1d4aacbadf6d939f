import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Avatar, type Mark } from './avatar.tsx'
import { Dialog } from './dialog.tsx'

/** An entry of a picker. */
type Item = {
  id: string
  name: string
  mark: Mark
  /** A second line, such as an address. */
  detail?: string | undefined
  /** Why it cannot be chosen now. */
  refusal?: string | undefined
}

/** Items that contain the text: those whose name begins with it first, those that cannot be chosen last. */
export function searchItems(items: readonly Item[], text: string): Item[] {
  const wanted = text.trim().toLowerCase()
  const rankOf = ({ name, id, detail = '', refusal }: Item): number => {
    const places = [name, detail, id].map((each) => each.toLowerCase().indexOf(wanted))
    if (places.every((place) => place < 0)) return -1
    return (refusal === undefined ? 0 : 2) + (places[0] === 0 ? 0 : 1)
  }
  return items
    .map((item) => ({ item, rank: rankOf(item) }))
    .filter(({ rank }) => rank >= 0)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
}

/** The next index for an arrow key, around the ends. */
export function stepIn(count: number, index: number, by: 1 | -1): number {
  return count === 0 ? 0 : (index + by + count) % count
}

type Props = {
  /** Its name for screen readers, before the chosen one. */
  label: string
  /** The heading of the list. */
  title: string
  items: readonly Item[]
  value: string
  onPick(id: string): void
  class?: string
}

/** A button with the chosen item, which opens a list with a search field. */
export function Picker({ label, title, items, value, onPick, ...rest }: Props) {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const wasOpen = useRef(false)
  // The dialog returns the focus to the button that opened it. That one may be replaced by then.
  useEffect(() => {
    if (wasOpen.current && !isOpen && document.activeElement === document.body) button.current?.focus()
    wasOpen.current = isOpen
  }, [isOpen])
  const chosen = items.find(({ id }) => id === value)
  const pick = (id: string) => {
    setOpen(false)
    onPick(id)
  }
  const name = chosen?.name ?? 'Choose'
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`pick ${rest.class ?? ''}`}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {chosen && <Avatar mark={chosen.mark} />}
        <span class="unseen">{label}: </span>
        <span>{name}</span>
      </button>
      {isOpen && (
        <Dialog title={title} onClose={() => setOpen(false)}>
          <Choices title={title} items={items} value={value} onPick={pick} />
        </Dialog>
      )}
    </>
  )
}

type ChoicesProps = Pick<Props, 'title' | 'items' | 'value' | 'onPick'>

/** A search field that controls a list: arrows move in it, Enter picks. */
function Choices({ title, items, value, onPick }: ChoicesProps) {
  const [text, setText] = useState('')
  const [index, setIndex] = useState(0)
  const id = useId()
  const found = searchItems(items, text)
  const optionId = (item: Item) => `${id}-${item.id}`
  const current = found[index]
  const activeId = current && optionId(current)
  useEffect(() => {
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' })
  }, [activeId])
  const pick = (item: Item | undefined) => item && item.refusal === undefined && onPick(item.id)
  const onKey = (event: KeyboardEvent) => {
    const by = ({ ArrowDown: 1, ArrowUp: -1 } as const)[event.key]
    if (by === undefined && event.key !== 'Enter') return
    event.preventDefault()
    if (by === undefined) pick(current)
    else setIndex(stepIn(found.length, index, by))
  }
  const search = (next: string) => {
    setText(next)
    setIndex(0)
  }
  return (
    <>
      <input
        role="combobox"
        autoComplete="off"
        spellcheck={false}
        aria-label={`${title}: search`}
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={activeId}
        placeholder="Search by name or address"
        value={text}
        onInput={(event) => search(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <div class="options" role="listbox" tabIndex={-1} id={id} aria-label={title}>
        {found.map((item) => (
          <Option
            key={item.id}
            item={item}
            id={optionId(item)}
            isCurrent={item === current}
            isChosen={item.id === value}
            onPick={() => pick(item)}
          />
        ))}
      </div>
      <p class="fine" role="status">
        {found.length === 0 && 'Nothing matches.'}
      </p>
    </>
  )
}

type OptionProps = { item: Item; id: string; isCurrent: boolean; isChosen: boolean; onPick(): void }

function Option({ item, id, isCurrent, isChosen, onPick }: OptionProps) {
  const { name, mark, detail, refusal } = item
  return (
    // The search field keeps the focus and handles the keys.
    <button
      type="button"
      id={id}
      role="option"
      tabIndex={-1}
      class={isCurrent ? 'current' : ''}
      aria-selected={isChosen}
      aria-disabled={refusal !== undefined}
      onClick={onPick}
    >
      <Avatar mark={mark} />
      <span class="option-name">{name}</span>
      <span class="fine">{refusal ?? detail}</span>
    </button>
  )
}
