// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IGeoAccount
/// @notice The code of a wallet that is delegated (EIP-7702) to GeoAccount.
interface IGeoAccount {
    /// @dev Only the escrow may ask a wallet to pay.
    error NotEscrow();
    /// @dev The op was not signed by this wallet.
    error BadSignature();
    /// @dev The escrow's balance after the transfer is not the expected one: the token took a fee, or lied.
    error WrongAmount();

    /// @notice Pays `amount` of `token` (0 = native coin) to the escrow for the op with this hash.
    /// @dev The balance is checked in the wallet's call frame, so that a failure reverts the transfer.
    /// @param token The input token.
    /// @param amount The op's input amount.
    /// @param expectedBalance The escrow's balance of the token after the payment.
    /// @param opHash The EIP-712 hash of the GeoOp. The wallet signed it as such (eth_signTypedData_v4), or the 32 bytes
    ///        of it with EIP-191 (personal_sign).
    /// @param r First half of the EIP-2098 signature.
    /// @param vs Second half of the EIP-2098 signature.
    function pay(address token, uint256 amount, uint256 expectedBalance, bytes32 opHash, bytes32 r, bytes32 vs)
        external;

    /// @notice ERC-1271: the wallet's own ECDSA signature is valid, and no other. Permits use it once a wallet has code.
    /// @param hash The signed hash.
    /// @param signature 65 bytes (r, s, v) or 64 bytes (r, vs), with a low s.
    /// @return magic 0x1626ba7e when valid, 0xffffffff when not.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4 magic);

    /// @notice ERC-165.
    /// @param interfaceId The interface asked for.
    function supportsInterface(bytes4 interfaceId) external pure returns (bool);

    /// @notice ERC-721: safe transfers to the wallet are accepted, as they are to a wallet without code.
    function onERC721Received(address operator, address from, uint256 id, bytes calldata data)
        external
        pure
        returns (bytes4);

    /// @notice ERC-1155: as above.
    function onERC1155Received(address operator, address from, uint256 id, uint256 amount, bytes calldata data)
        external
        pure
        returns (bytes4);

    /// @notice ERC-1155: as above.
    function onERC1155BatchReceived(
        address operator,
        address from,
        uint256[] calldata ids,
        uint256[] calldata amounts,
        bytes calldata data
    ) external pure returns (bytes4);

    /// @notice ERC-223, first form: as above.
    function tokenFallback(address from, uint256 amount, bytes calldata data) external pure;

    /// @notice ERC-223, final form: as above.
    function tokenReceived(address from, uint256 amount, bytes calldata data) external pure returns (bytes4);

    /// @notice The only address that can call `pay`, and the only one `pay` pays.
    function ESCROW() external view returns (address);
}
