// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "solady/src/utils/ECDSA.sol";
import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";
import {IGeoAccount} from "./interfaces/IGeoAccount.sol";
import {SignatureLib} from "./libraries/SignatureLib.sol";

/// @title GeoAccount
/// @notice The code a wallet delegates to (EIP-7702). Its only power is to pay the input of an op
///         that the wallet signed, to the escrow, when the escrow calls. It receives coins and tokens as without code.
///
/// Funds it can move: the wallet's own, to the escrow only, one signed amount of one signed token per op.
///
/// Attacks it prevents:
/// - A signature used twice by calling the wallet directly: only the escrow may call, and it records an op once.
/// - Another wallet's signature, or a failed recovery: the signer must be `address(this)`, never the zero address.
/// - Malleability: the upper half of s is refused, in `pay` and in ERC-1271.
/// - Tokens that take a fee, lie, return nothing or false: the escrow's balance must be exactly the expected one.
/// - Front-run initialization, storage shared with another delegate: no initializer, no admin, no storage.
/// - A wallet that stops working elsewhere: permits, coins, NFTs and ERC-223 tokens work as before.
/// - Callers that take any successful call for a yes: a function that is not here reverts.
contract GeoAccount is IGeoAccount {
    /// @inheritdoc IGeoAccount
    address public immutable ESCROW;

    bytes4 private constant ERC1271_INVALID = 0xffffffff;
    bytes4 private constant ERC165_ID = 0x01ffc9a7;
    bytes4 private constant ERC721_RECEIVER_ID = 0x150b7a02;
    bytes4 private constant ERC1155_RECEIVER_ID = 0x4e2312e0;

    /// @dev The escrow's constructor creates this contract: each must know the other, and neither address is an argument.
    constructor() {
        ESCROW = msg.sender;
    }

    receive() external payable {}

    /// @inheritdoc IGeoAccount
    function pay(address token, uint256 amount, uint256 expectedBalance, bytes32 opHash, bytes32 r, bytes32 vs)
        external
    {
        if (msg.sender != ESCROW) revert NotEscrow();
        if (!_isSigned(opHash, r, vs)) revert BadSignature();

        if (token == address(0)) {
            SafeTransferLib.safeTransferETH(msg.sender, amount);
            if (msg.sender.balance != expectedBalance) revert WrongAmount();
        } else {
            SafeTransferLib.safeTransfer(token, msg.sender, amount);
            if (SafeTransferLib.balanceOf(token, msg.sender) != expectedBalance) revert WrongAmount();
        }
    }

    /// @inheritdoc IGeoAccount
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        bool isOwn = SignatureLib.signer(hash, signature) == address(this);
        return isOwn ? this.isValidSignature.selector : ERC1271_INVALID;
    }

    /// @inheritdoc IGeoAccount
    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == ERC165_ID || interfaceId == this.isValidSignature.selector
            || interfaceId == ERC721_RECEIVER_ID || interfaceId == ERC1155_RECEIVER_ID;
    }

    /// @inheritdoc IGeoAccount
    function onERC721Received(address, address, uint256, bytes calldata) external pure returns (bytes4) {
        return this.onERC721Received.selector;
    }

    /// @inheritdoc IGeoAccount
    function onERC1155Received(address, address, uint256, uint256, bytes calldata) external pure returns (bytes4) {
        return this.onERC1155Received.selector;
    }

    /// @inheritdoc IGeoAccount
    function onERC1155BatchReceived(address, address, uint256[] calldata, uint256[] calldata, bytes calldata)
        external
        pure
        returns (bytes4)
    {
        return this.onERC1155BatchReceived.selector;
    }

    /// @inheritdoc IGeoAccount
    function tokenFallback(address, uint256, bytes calldata) external pure {}

    /// @inheritdoc IGeoAccount
    function tokenReceived(address, uint256, bytes calldata) external pure returns (bytes4) {
        return this.tokenReceived.selector;
    }

    /// @dev The op's hash is an EIP-712 digest: wallets sign it as such, or as a message of 32 bytes.
    function _isSigned(bytes32 opHash, bytes32 r, bytes32 vs) private view returns (bool) {
        if (SignatureLib.signer(ECDSA.toEthSignedMessageHash(opHash), r, vs) == address(this)) return true;
        return SignatureLib.signer(opHash, r, vs) == address(this);
    }
}
