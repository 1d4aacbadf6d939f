import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

type Props = {
  class: string
  isDisabled?: boolean
  onClick(): void
  children: ComponentChildren
  /** Enter in a field of its form presses it too. */
  isSubmit?: boolean
}

/** A button that keeps the focus while it is disabled, so that keyboard users do not lose their place. */
export function ActionButton({ isDisabled = false, isSubmit, onClick, children, ...rest }: Props) {
  const press = (event: Event) => {
    // The page handles the form itself.
    event.preventDefault()
    if (!isDisabled) onClick()
  }
  return (
    <button {...rest} type={isSubmit ? 'submit' : 'button'} aria-disabled={isDisabled} onClick={press}>
      {children}
    </button>
  )
}

/** Moves the focus to a heading when its subject changes, so that screen readers read the new content. */
export function useFocus(subject: unknown): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [subject])
  return heading
}

/** Moves the focus into the content if the element that had it disappeared with the change of the subject. */
export function useFocusRescue(subject: unknown): void {
  const isFirst = useRef(true)
  useEffect(() => {
    const isLost = document.activeElement === null || document.activeElement === document.body
    if (!isFirst.current && isLost) document.getElementById('main')?.focus()
    isFirst.current = false
  }, [subject])
}

/** Whether a media query matches, now and after changes. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const update = () => setMatches(list.matches)
    list.addEventListener('change', update)
    return () => list.removeEventListener('change', update)
  }, [query])
  return matches
}
